// Package filter makes training data of what people and agents did: rows with where they
// come from, without what is personal, secret, broken, doubled or part of an evaluation.
// docs/DATA.md says what it does and how well, docs/formats/dataset.md what it writes.
//
// It takes what the package trajectory admitted for training and nothing else, so that no
// evaluation can leave by mistake. The same log and settings give the same bytes.
package filter

// Version names the rules. It changes whenever equal input may give other rows.
const Version = "1"
