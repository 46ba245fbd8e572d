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
	info, block, filter             int    // numbers inside
	listener                        string // the same of enter.py's socket
	refusals                        *refusals
}

func (b *bubblewrap) pipes(files []*os.File) (p *pipes, err error) {
	p = &pipes{inherited: append([]*os.File(nil), files...), listener: "-1"}
	program := b.filters.strict
	if b.naming {
		var socket *os.File
		if p.refusals, socket, err = newRefusals(b.filters.inner, b.filters.names); err != nil {
			p.close()
			return nil, err
		}
		program, p.listener = b.filters.outer, strconv.Itoa(3+len(p.inherited))
		p.inherited = append(p.inherited, socket)
	}
	var infoW, blockR, filterR, filterW *os.File
	for _, pair := range []struct{ r, w **os.File }{{&p.outputR, &p.outputW}, {&p.infoR, &infoW}, {&blockR, &p.blockW}, {&filterR, &filterW}} {
		if *pair.r, *pair.w, err = os.Pipe(); err != nil {
			p.close()
			p.refusals.close()
			return nil, err
		}
	}
	p.info = 3 + len(p.inherited)
	p.block, p.filter = p.info+1, p.info+2
	p.inherited = append(p.inherited, infoW, blockR, filterR)
	_, err = io.Copy(filterW, bytes.NewReader(program)) // less than a pipe holds
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
