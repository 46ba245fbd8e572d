// Package curve keeps what is measured of a training run: metrics.jsonl, a line of numbers
// for each optimizer step. docs/formats/metrics.md has the names.
package curve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/metrics"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// File is the name of a run's file.
const File = "metrics.jsonl"

// Line is what was measured at a step, by name.
type Line map[string]float64

// Stamp adds what every line has: the time, the memory that this process holds, and tokens by
// second where the line tells of both.
func (l Line) Stamp(now time.Time, tokens int64, took time.Duration) Line {
	l["time"] = float64(now.UnixMilli()) / 1000
	l["memory_bytes"] = memory()
	l["seconds"] = took.Seconds()
	if took > 0 {
		l["tokens_per_second"] = float64(tokens) / took.Seconds()
	}
	return l
}

// memory is what the Go runtime holds of this process's memory, without what it has given
// back; weights that are mapped from files are not in it.
func memory() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64() - sample[1].Value.Uint64())
}

// Append adds a line to a file, which is made with its directory. What is no finite number
// is left out: JSON has no word for it.
func Append(path string, l Line) error {
	out := Line{}
	for name, x := range l {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			out[name] = x
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return disk.Error(err, path+" cannot be written")
	}
	_, err = f.Write(append(raw, '\n'))
	return disk.Error(errors.Join(err, f.Close()), path+" cannot be written")
}

// maxLine bounds a line that is read.
const maxLine = 1 << 20

// Read gives the lines of a file behind byte at, at most so many, and where to go on. A line
// that is being written is left for the next time; one that is no line is passed over. A file
// that is not there has none.
func Read(path string, at int64, most int) (lines []Line, next int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, at, nil
	}
	if err != nil {
		return nil, at, disk.Error(err, path+" cannot be read")
	}
	defer f.Close() // read-only
	if info, err := f.Stat(); err != nil || at < 0 || at > info.Size() {
		return nil, at, errs.New(errs.InvalidRequest, "there is no such place in the metrics", "begin at 0")
	}
	if _, err := f.Seek(at, 0); err != nil {
		return nil, at, disk.Error(err, path+" cannot be read")
	}
	in := bufio.NewReaderSize(f, maxLine)
	for len(lines) < most {
		text, err := in.ReadSlice('\n')
		if err != nil {
			break // the end, or a line that nobody here has written
		}
		at += int64(len(text))
		var l Line
		if json.Unmarshal(bytes.TrimSpace(text), &l) == nil && l != nil {
			lines = append(lines, l)
		}
	}
	return lines, at, nil
}
