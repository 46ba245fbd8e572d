// Command tally reads what `go test -json` writes, shows what failed and one line for
// each package, and ends with the line "N passed, N failed, N skipped". It fails when
// a test failed, when a test was skipped (unless ALLOW_SKIP=1), and when none ran.
package main

import (
	"fmt"
	"os"
)

func main() {
	t := newTally(os.Stdout)
	if err := t.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
	if !t.end(os.Getenv("ALLOW_SKIP") == "1") {
		os.Exit(1)
	}
}
