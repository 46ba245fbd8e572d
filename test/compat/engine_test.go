package compat

import (
	"strings"
	"testing"
)

// adapters are the four of this repository, as models of the engine's server.
var adapters = []string{"L0=../../adapters/L0", "L1=../../adapters/L1", "L2=../../adapters/L2", "L3=../../adapters/L3"}

func serveEngine(t *testing.T, program string) *server {
	t.Helper()
	args := []string{"engine", "serve", "--port", "0", "--served-model-name", "base", "--embedding-model", "../../internal/engine/encoder/testdata/tiny", "--embedding-name", "encoder"}
	for _, a := range adapters {
		args = append(args, "--lora-modules", a)
	}
	return launch(t, "/health", program, args...)
}

// The engine's server under the official SDK.
func TestEngineUnderTheSDK(t *testing.T) {
	s := serveEngine(t, build(t))
	for _, scenario := range []string{"models", "chat", "chat_streamed", "adapters_together", "completions", "scores", "choices", "tools_forced", "embeddings", "errors", "async_together"} {
		t.Run(scenario, func(t *testing.T) { s.python(t, "engine_sdk.py", scenario) })
	}
}

// The engine's server under a proxy that expects vLLM: our own, in each way that asks for
// a constrained choice by fields. The adapters are model names there, and routes are exact.
func TestEngineUnderAProxy(t *testing.T) {
	program := build(t)
	below := serveEngine(t, program)
	for _, dialect := range []string{"vllm", "auto"} {
		t.Run(dialect, func(t *testing.T) {
			s := serve(t, program, "--upstream", below.base+"/v1", "--upstream-dialect", dialect)
			s.curlConversation(t, false)
			s.curlConversation(t, true)
			if strings.Contains(below.log.String(), "level=ERROR") {
				t.Errorf("the engine's log:\n%s", below.log)
			}
		})
	}
}
