package mint

import (
	"encoding/json"
	"fmt"
	"strconv"

	"macaron/internal/errs"
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

// ModelOf is the model of a row, without its checkpoints, for those who read beside the service.
func ModelOf(row ledger.Model) (Model, error) {
	var a about
	if err := json.Unmarshal(row.About, &a); err != nil {
		return Model{}, errs.Wrap(errs.FormatInvalid, err, "the row of model "+row.ID+" cannot be read", "use the build that wrote it")
	}
	return Model{ID: row.ID, Owner: row.Owner, Session: row.Session, Base: row.Base, Spec: a.Spec, Metadata: a.Metadata,
		Created: row.Created, Used: row.Used, Steps: row.Steps, Unloaded: row.Unloaded, Corrupted: row.Corrupted}, nil
}
