package mint

import (
	"bytes"
	"encoding/gob"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// inline is how many bytes of a body or a result lie in the store itself; more is a blob.
const inline = 256 << 10

// maxBody bounds what is read back of a body or a result.
const maxBody = 1 << 30

// pack writes a value as the journal keeps it.
func pack(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func unpack[T any](b []byte) (v T, err error) {
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&v); err != nil {
		return v, errs.Wrap(errs.FormatInvalid, err, "an entry of the journal cannot be read", "use the build that wrote it")
	}
	return v, nil
}

// lay puts bytes where they belong: small ones into the row, others into a blob.
func (s *Service) lay(b []byte) ([]byte, ids.Digest, error) {
	if len(b) <= inline {
		return b, "", nil
	}
	d, err := s.o.Blobs.PutBytes(b)
	return nil, d, err
}

func (s *Service) fetch(b []byte, d ids.Digest) ([]byte, error) {
	if d == "" {
		return b, nil
	}
	return s.o.Blobs.Bytes(d, maxBody)
}

// body is an operation as it is journaled: the one of its kind.
type body struct {
	Create  *CreateModel
	Forward *Forward
	Step    *OptimStep
	Save    *Save
	Sampler *SaveSampler
	Load    *Load
	Unload  bool
	Refused *Refused
	Sample  *Sample
	Seed    uint64 // of Sample

}
