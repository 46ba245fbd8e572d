// Package macaron is what the program takes along of its own repository: the evaluation
// sets, so that no training data is made without being compared with them.
package macaron

import "embed"

// Evaluation has the registry of evaluation sets, evaluation.toml, and the sets.
//
//go:embed evaluation.toml recipes/default-set/test/routing.jsonl test/intents/turns.tsv internal/route/shortlist/testdata/adapters.tsv test/cardgrammar/requests.toml
var Evaluation embed.FS
