package main

import "github.com/spf13/cobra"

// newMint is the service that trains adapters, and the catalogue of what it made.
func newMint(e *env) *cobra.Command {
	return noun("mint", "Serve and watch training; publish, promote, export and collect revisions of adapters", append(append(mintCatalogue(e), mintWatch(e)...), mintServe(e))...)
}
