package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

// answer is what a side says after a step: how long it took, also in seconds of a
// processor, the loss before it, and the most memory that the process has had.
type answer struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`
	Loss    float64 `json:"loss"`
	PeakKB  int     `json:"peak_kb"`
}

// side is a process that trains.
type side struct {
	name    string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	seconds []float64
	cpu     []float64
	last    float64
	first   float64 // loss
	peak    int     // kB
	stopped bool
}

func (s *side) start() error {
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	s.in, s.out, s.cmd.Stderr = in, json.NewDecoder(out), os.Stderr
	return s.cmd.Start()
}

// step waits for one; the first ones do not count, but their loss is kept.
func (s *side) step(counts bool) error {
	if _, err := io.WriteString(s.in, "\"step\"\n"); err != nil {
		return err
	}
	var a answer
	if err := s.out.Decode(&a); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if s.peak == 0 {
		s.first = a.Loss
	}
	s.last, s.peak = a.Seconds, a.PeakKB
	if counts {
		s.seconds, s.cpu = append(s.seconds, a.Seconds), append(s.cpu, a.CPU)
	}
	return nil
}

func (s *side) stop() {
	if !s.stopped {
		s.stopped = true
		s.in.Close()
		s.cmd.Wait() //nolint:errcheck // its answers are here
	}
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func over(a, b []float64) (out []float64) {
	for i, v := range a {
		out = append(out, v/b[i])
	}
	return out
}

func spread(x []float64) string {
	return fmt.Sprintf("%.2f (%.2f - %.2f)", median(x), slices.Min(x), slices.Max(x))
}
