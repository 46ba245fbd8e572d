// Package recipe trains an adapter by a recipe: a TOML file that says what to train, on
// which data, by which method (docs/formats/recipe.md). Equal recipes and data give equal
// adapters, bit for bit, also when a run is killed in between and resumed.
//
// It knows a Machine, which computes, encodes and samples, and neither engines nor the
// command line; whoever trains in steps of an improvement loop calls it as the command does.
package recipe
