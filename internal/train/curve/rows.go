package curve

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/ids"
	"macaron/internal/train"
)

// RowsFile is the name of the file beside a run's metrics that says of rows which samples
// they are made of.
const RowsFile = "rows.jsonl"

// Row is a datum that a run was trained on and whose maker said where its tokens came from.
type Row struct {
	Step      int64      `json:"step"`      // that its gradient went into
	Operation int64      `json:"operation"` // of the model, that brought it
	Datum     int        `json:"datum"`     // of the operation, from 0
	Row       ids.Digest `json:"row"`       // of its input tokens, as little-endian 32-bit integers
	Tokens    int        `json:"tokens"`
	Input     []Stretch  `json:"input"`
	Targets   []Stretch  `json:"targets"`
}

// Stretch is one of a row's origins.
type Stretch struct {
	Sequence string `json:"sequence"`
	Of       string `json:"of"` // prompt, answer
	Offset   int64  `json:"offset"`
	Length   int64  `json:"length"`
}

// RowsOf gives the rows of an operation's data; those without origins have none.
func RowsOf(step, operation int64, data []train.Datum) (rows []Row) {
	for i, d := range data {
		if len(d.From.Input)+len(d.From.Targets) == 0 {
			continue
		}
		raw := make([]byte, 0, 4*len(d.Tokens))
		for _, t := range d.Tokens {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(t))
		}
		rows = append(rows, Row{step, operation, i, ids.DigestOf(raw), len(d.Tokens), stretches(d.From.Input), stretches(d.From.Targets)})
	}
	return rows
}

func stretches(all []train.Origin) []Stretch {
	out := make([]Stretch, len(all))
	for i, o := range all {
		out[i] = Stretch{o.Sequence, "prompt", o.Offset, o.Length}
		if o.Sampled {
			out[i].Of = "answer"
		}
	}
	return out
}

// AddRows adds rows to a run.
func (r Runs) AddRows(owner, run string, rows []Row) (err error) {
	path := filepath.Join(filepath.Dir(r.Path(owner, run)), RowsFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return disk.Error(err, path+" cannot be made")
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return disk.Error(err, path+" cannot be written")
	}
	defer func() { err = disk.Error(errors.Join(err, f.Close()), path+" cannot be written") }()
	out := bufio.NewWriter(f)
	lines := json.NewEncoder(out)
	for _, row := range rows {
		if err := lines.Encode(row); err != nil {
			return err
		}
	}
	return out.Flush()
}
