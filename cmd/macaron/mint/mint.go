// Package mint is `macaron mint`, the training service and the catalogue of revisions, and
// `macaron train`.
package mint

import (
	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
)

// New is the service that trains adapters, and the catalogue of what it made.
// New gives the commands of mint.
func New(e *cli.Env) *cobra.Command {
	return cli.Noun("mint", "Serve and watch training; publish, promote, export and collect revisions of adapters", append(append(mintCatalogue(e), mintWatch(e)...), mintServe(e))...)
}
