package repl

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
)

// pipes are the descriptors between a sandbox and this process.
type pipes struct {
	outputR, outputW, infoR, blockW *os.File
	inherited                       []*os.File
	info, block                     int      // numbers inside
	filter                          []string // arguments of bwrap that install one; none where enter.py does
	listener                        string   // the same of enter.py's socket
	refusals                        *refusals
}

func (b *bubblewrap) pipes(files []*os.File) (p *pipes, err error) {
	p = &pipes{inherited: append([]*os.File(nil), files...), listener: "-1"}
	if b.naming {
		var socket *os.File
		if p.refusals, socket, err = newRefusals(b.filters.naming); err != nil {
			p.close()
			return nil, err
		}
		p.listener = strconv.Itoa(3 + len(p.inherited))
		p.inherited = append(p.inherited, socket)
	}
	var infoW, blockR *os.File
	for _, pair := range []struct{ r, w **os.File }{{&p.outputR, &p.outputW}, {&p.infoR, &infoW}, {&blockR, &p.blockW}} {
		if *pair.r, *pair.w, err = os.Pipe(); err != nil {
			p.close()
			p.refusals.close()
			return nil, err
		}
	}
	p.info = 3 + len(p.inherited)
	p.block = p.info + 1
	p.inherited = append(p.inherited, infoW, blockR)
	if b.naming {
		return p, nil
	}
	filterR, filterW, err := os.Pipe()
	if err != nil {
		p.close()
		return nil, err
	}
	p.filter = []string{"--seccomp", strconv.Itoa(p.block + 1)}
	p.inherited = append(p.inherited, filterR)
	_, err = io.Copy(filterW, bytes.NewReader(b.filters.strict)) // less than a pipe holds
	return p, errors.Join(err, filterW.Close())
}

// closeInherited closes this side's copies, so that the end of bwrap is seen.
func (p *pipes) closeInherited() {
	for _, f := range append(p.inherited, p.outputW) {
		if f != nil {
			_ = f.Close() // closed twice is closed
		}
	}
}

func (p *pipes) takeOutput() *os.File {
	f := p.outputR
	p.outputR = nil
	return f
}

func (p *pipes) close() {
	p.closeInherited()
	for _, f := range []*os.File{p.outputR, p.infoR, p.blockW} {
		if f != nil {
			_ = f.Close() // nothing was written that could be lost
		}
	}
}
