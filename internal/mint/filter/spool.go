package filter

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"macaron/internal/canonical"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// entry is a row that waits for its side of the split: that is known when all rows are.
type entry struct {
	Line json.RawMessage
	Prov Provenance
	Text string // what duplicates are found by
	Set  int32
}

// spool keeps rows on disk, so that memory does not grow with their texts.
type spool struct {
	file  *os.File
	w     *bufio.Writer
	at    int64
	first []int64 // where the rows of a candidate begin
}

func openSpool(path string) (*spool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, disk.Error(err, path+" cannot be written")
	}
	return &spool{file: f, w: bufio.NewWriterSize(f, 1<<16)}, nil
}

func (s *spool) close() {
	if s != nil {
		_ = s.file.Close() // a scratch file: what was written is read back before it counts
	}
}

func (s *spool) add(e entry, begins bool) error {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false) // the line comes back byte for byte
	if err := enc.Encode(e); err != nil {
		return errs.Wrap(errs.Internal, err, "a row cannot be written as JSON", "")
	}
	if begins {
		s.first = append(s.first, s.at)
	}
	n, err := s.w.Write(raw.Bytes())
	s.at += int64(n)
	return disk.Error(err, "the rows cannot be written")
}

// read gives the first row of a candidate.
func (s *spool) read(i int) (e entry, err error) {
	if err := s.w.Flush(); err != nil {
		return e, disk.Error(err, "the rows cannot be written")
	}
	dec := json.NewDecoder(io.NewSectionReader(s.file, s.first[i], s.at-s.first[i]))
	return e, disk.Error(dec.Decode(&e), "the rows cannot be read back")
}

// each gives every row in order.
func (s *spool) each(do func(entry) error) error {
	if err := s.w.Flush(); err != nil {
		return disk.Error(err, "the rows cannot be written")
	}
	dec := json.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.at), 1<<16))
	for {
		var e entry
		if err := dec.Decode(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return disk.Error(err, "the rows cannot be read back")
		}
		if err := do(e); err != nil {
			return err
		}
	}
}

// output is a file of lines that knows its digest.
type output struct {
	file  *os.File
	w     *bufio.Writer
	sum   hash.Hash
	lines int
	bytes int64
}

func create(dir, name string) (*output, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, disk.Error(err, name+" cannot be written")
	}
	return &output{file: f, w: bufio.NewWriterSize(f, 1<<16), sum: sha256.New()}, nil
}

func (o *output) line(raw []byte) error {
	raw = append(raw, '\n')
	o.sum.Write(raw)
	o.lines, o.bytes = o.lines+1, o.bytes+int64(len(raw))
	_, err := o.w.Write(raw)
	return disk.Error(err, "the dataset cannot be written")
}

func (o *output) json(v any) error {
	raw, err := canonical.Bytes(v)
	if err != nil {
		return err
	}
	return o.line(raw)
}

// done makes the file durable.
func (o *output) done() (File, error) {
	err := o.w.Flush()
	if err == nil {
		err = o.file.Sync()
	}
	if cerr := o.file.Close(); err == nil {
		err = cerr
	}
	return File{Digest: ids.Digest(fmt.Sprintf("sha256:%x", o.sum.Sum(nil))), Bytes: o.bytes, Lines: o.lines}, disk.Error(err, "the dataset cannot be written")
}

func (o *output) abandon() {
	if o != nil {
		_ = o.file.Close()
	}
}
