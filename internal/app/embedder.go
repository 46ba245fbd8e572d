package app

import (
	"path/filepath"

	"macaron/internal/engine/encoder"
	"macaron/internal/wire/vllm"
)

// embedder is an encoder under a name.
type embedder struct {
	*encoder.Encoder
	name string
}

// Name implements vllm.Embedder.
func (e embedder) Name() string { return e.name }

// openEmbedder opens the model of embeddings, nil when there is none.
func (s *EngineServer) openEmbedder() (vllm.Embedder, error) {
	path := s.opts.Embedding.Path
	if path == "" {
		return nil, nil
	}
	enc, err := encoder.Open(path)
	if err != nil {
		return nil, err
	}
	s.embedder = enc
	name := s.opts.Embedding.Name
	if name == "" {
		name = filepath.Base(filepath.Clean(path))
	}
	return embedder{enc, name}, nil
}
