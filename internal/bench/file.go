package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// Pins are what a measurement was made of. Outcomes of other pins are never mixed in.
type Pins struct {
	Contract ids.Digest        `json:"contract"`
	Adapter  ids.Digest        `json:"adapter"`
	Engine   string            `json:"engine"`
	Model    string            `json:"model"`
	Seed     uint64            `json:"seed"`
	Limits   record.RunLimits  `json:"limits"` // of a run, where they are lower than the contract's
	Suites   map[string]string `json:"suites"` // what each was made of
}

// Log is the file of a measurement: its pins on the first line, an outcome on each other.
type Log struct {
	Pins Pins
	Rows []Row

	file *os.File
}

// maxLine bounds a line of the file.
const maxLine = 4 << 20

// OpenLog opens a file or makes it. Pins that differ from those of the file are refused.
// A last line that a crash cut short is cut off.
func OpenLog(path string, pins Pins) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, disk.Error(err, path+" cannot be opened")
	}
	l := &Log{Pins: pins, file: f}
	if err := l.begin(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *Log) begin(path string) error {
	old, end, err := readLog(l.file, path)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(end); err != nil {
		return disk.Error(err, path+" cannot be written")
	}
	if _, err := l.file.Seek(end, io.SeekStart); err != nil {
		return disk.Error(err, path+" cannot be written")
	}
	if end == 0 {
		return l.write(l.Pins)
	}
	was, err1 := json.Marshal(old.Pins)
	now, err2 := json.Marshal(l.Pins)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if !bytes.Equal(was, now) {
		return errs.New(errs.InvalidRequest, path+" is of another measurement: "+string(was)+", now "+string(now), "name another file, or measure with what that one was made of")
	}
	l.Rows = old.Rows
	return nil
}

// ReadLog reads a file.
func ReadLog(path string) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.Error(err, path+" cannot be opened")
	}
	defer f.Close() // read-only
	l, _, err := readLog(f, path)
	return l, err
}

// readLog also tells where the last whole line ends.
func readLog(f io.Reader, path string) (*Log, int64, error) {
	l, end := &Log{}, int64(0)
	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return l, end, nil
		}
		if err != nil || len(line) > maxLine {
			return nil, 0, disk.Error(err, path+" cannot be read")
		}
		var to any = &l.Pins
		if n > 1 {
			l.Rows = append(l.Rows, Row{})
			to = &l.Rows[len(l.Rows)-1]
		}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(to); err != nil {
			return nil, 0, errs.Wrap(errs.FormatInvalid, err, path+" is no file of macaron bench", "name another file")
		}
		end += int64(len(line))
	}
}

// Done reports whether a task has an outcome in a mode.
func (l *Log) Done(suite, task string, mode contract.Mode) bool {
	for _, r := range l.Rows {
		if r.Suite == suite && r.Task == task && r.Mode == mode && r.Failure == "" {
			return true
		}
	}
	return false
}

// Add keeps an outcome.
func (l *Log) Add(r Row) error {
	l.Rows = append(l.Rows, r)
	return l.write(r)
}

func (l *Log) write(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = l.file.Write(append(b, '\n'))
	}
	return disk.Error(err, "an outcome cannot be written")
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
