package discovery

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"macaron/internal/canonical"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// The bounds of a file of records.
const (
	maxLine    = 1 << 20
	maxRecords = 1 << 20
)

// WriteRecords puts records into a file, whole: a line of canonical JSON for each.
func WriteRecords(path string, records []Record) error {
	var b bytes.Buffer
	for _, r := range records {
		raw, err := canonical.Bytes(r)
		if err != nil {
			return err
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return disk.Replace(path, b.Bytes(), 0o600)
}

// ReadRecords reads such a file. What a record says of its verifier and structure is compared
// with what they are.
func ReadRecords(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.Error(err, path+" cannot be read")
	}
	defer f.Close() // read only
	var out []Record
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r Record
		if err := strictly(lines.Bytes(), maxLine, &r); err != nil || len(out) == maxRecords {
			return nil, wrongLine(path, len(out), "is no record of a task")
		}
		r.restore()
		structure, err := Structure(r.Task)
		switch {
		case r.Schema != Schema:
			return nil, wrongLine(path, len(out), fmt.Sprintf("is of the schema %.40q, not %s", r.Schema, Schema))
		case err != nil || structure != r.Structure || ids.DigestOf(r.Spec) != r.Verifier:
			return nil, wrongLine(path, len(out), "was changed: its structure or its verifier is another one")
		}
		out = append(out, r)
	}
	return out, disk.Error(lines.Err(), path+" cannot be read")
}

// restore gives the task its judge's half.
func (r *Record) restore() {
	r.Task.Judged.Spec, r.Task.Judged.Solution, r.Task.Judged.Failing = json.RawMessage(r.Spec), r.Solution, r.Failing
}

func wrongLine(path string, n int, what string) error {
	return errs.New(errs.FormatInvalid, fmt.Sprintf("line %d of %s %s", n+1, path, what), "restore the file, or discover anew")
}
