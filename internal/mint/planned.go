package mint

import (
	"encoding/json"
	"fmt"
	"strconv"

	"macaron/internal/mint/ledger"
)

// Planned is how many optimizer steps a model will have, as its client says: the member steps
// of its metadata, a number or the text of one. It is 0 where the client says none.
func (m Model) Planned() int64 {
	var said struct{ Steps any }
	if json.Unmarshal(m.Metadata, &said) != nil {
		return 0
	}
	n, err := strconv.ParseInt(fmt.Sprint(said.Steps), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// PlannedOf is Planned of a row, for those who read beside the service.
func PlannedOf(row ledger.Model) int64 {
	var a about
	if json.Unmarshal(row.About, &a) != nil {
		return 0
	}
	return Model{Metadata: a.Metadata}.Planned()
}
