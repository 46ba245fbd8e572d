package upstream

// vllm: `vllm serve --enable-lora`. Adapters are model names; a choice is
// structured_outputs, or guided_choice before version 0.12, which passes over the other.
var vllm = &dialect{
	name: "vllm",
	known: func(f *Facts) bool {
		return f.owner("vllm") || f.Version != "" && f.engine == "" && f.slots == 0 && !f.sglang
	},
	extended: true, salted: true, ids: true, counts: true, templated: true, alternatives: 20,
	choose: func(q *body, choices []string) {
		q.StructuredOutputs, q.GuidedChoice = &structured{Choice: choices}, choices
	},
	constrain: structuredOutputs,
}
