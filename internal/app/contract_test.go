package app

import (
	"testing"

	"macaron/internal/backend/upstream"
	"macaron/internal/backend/upstream/upstreamtest"
	"macaron/internal/config"
	"macaron/internal/models"
	"macaron/internal/testmodel"
)

// `engine serve` on the real model with the real adapters keeps the contract of dialects,
// and is taken for what it is.
func TestTheContractOverOurOwnEngineServer(t *testing.T) {
	s := serveEngine(t, func(c *config.Config, o *EngineOptions) {
		c.Engine.KVBytes, c.Engine.Context = 128<<20, 2048
		o.Model, o.Adapters = models.Local{Name: "smollm2", Path: testmodel.Path(t)}, nil
		for _, name := range []string{"L0", "L1", "L2", "L3"} {
			o.Adapters = append(o.Adapters, NamedPath{name, "../../adapters/" + name})
		}
	})
	b := upstream.New(upstream.Config{URL: s.base + "/v1", Dialect: upstream.Auto})
	defer b.Close()
	upstreamtest.Contract(t, b, upstreamtest.Facts{Tools: true, Cached: true, Exact: true})
	if f, err := b.Probe(t.Context()); err != nil || f.Dialect != "macaron" || f.Revision("L2") == "" {
		t.Errorf("%+v, %v", f, err)
	}
}
