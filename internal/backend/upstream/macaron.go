package upstream

// macaron: `macaron engine serve`, which speaks as vLLM does, refuses fields that it
// does not know, and lists the content hash of every adapter.
var macaron = &dialect{
	name:     "macaron",
	known:    func(f *Facts) bool { return f.engine == "macaron" },
	extended: true, salted: true, ids: true, counts: true, alternatives: 20,
	choose:    func(q *body, choices []string) { q.StructuredOutputs = &structured{Choice: choices} },
	constrain: structuredOutputs,
}
