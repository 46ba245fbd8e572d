package app

import (
	"macaron/internal/adapter"
	"macaron/internal/engine"
	"macaron/internal/errs"
	"macaron/internal/obs"
)

// state reads the engine for the metrics.
func (s *EngineServer) state() obs.EngineState {
	select {
	case <-s.loaded:
	default:
		return obs.EngineState{}
	}
	if s.eng == nil {
		return obs.EngineState{}
	}
	return stateOf(s.eng)
}

// engineState reads the embedded engine for the metrics.
func (a *App) engineState() obs.EngineState {
	if e, ok := a.generator.gen().(engineBackend); ok {
		return stateOf(e.eng)
	}
	return obs.EngineState{} // it is being loaded
}

func stateOf(e *engine.Engine) obs.EngineState {
	st := e.Stats()
	out := obs.EngineState{Running: st.Running, Waiting: st.Waiting, Queries: st.KV.AskTokens, Hits: st.KV.HitTokens,
		PromptTokens: st.PromptTokens, OutputTokens: st.OutputTokens, Requests: st.Requests,
		Adapters: st.Adapters.Loaded, AdaptersInUse: st.Adapters.Pinned, AdapterBytes: st.Adapters.Bytes, AdapterLoads: st.Adapters.Loads, Evictions: st.Adapters.Evictions}
	if st.KV.Pages > 0 {
		out.KVUsage = float64(st.KV.InUse) / float64(st.KV.Pages)
	}
	return out
}

// dir finds the directory of an adapter's revision.
func (s *EngineServer) dir(r adapter.Revision) (string, error) {
	if s.names == nil {
		return "", errs.New(errs.AdapterNotFound, "there are no adapters yet", "")
	}
	return s.names.Dir(r)
}
