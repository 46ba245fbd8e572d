// Command longstraw measures one training pass over answers to a long prompt: time of
// processors and of the clock, memory, disk, and the longest piece of work.
//
//	longstraw -model FILE -prompt N [-way response-only] [-answers 2] [-response 64] [-dir DIR] [-memory BYTES]
//	longstraw -model FILE -compare 64,256,1024
//
// It prints a JSON object, or a table of cosines. Positions beyond the model's context turn as its settings say.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/model"
	"macaron/internal/train"
)

type result struct {
	Way            string       `json:"way"`
	Prompt         int          `json:"prompt"`
	Answers        int          `json:"answers"`
	Response       int          `json:"response"`
	Seconds        float64      `json:"seconds"`
	CPU            float64      `json:"cpu_seconds"`
	FirstCPU       float64      `json:"cpu_seconds_to_first_answer"` // the prompt and one answer forward
	Memory         train.Memory `json:"memory"`
	PeakRSS        int64        `json:"peak_rss_bytes"`
	BaseRSS        int64        `json:"rss_bytes_before"` // with the model and the trainer
	Pieces         int          `json:"pieces"`
	LongestPiece   float64      `json:"longest_piece_seconds"`
	TypicalLongest float64      `json:"piece_seconds_p99"`
	PieceCPU       float64      `json:"piece_cpu_seconds_p99"` // of all threads together
}

func main() {
	path := flag.String("model", "", "the model's `file`")
	var r result
	flag.StringVar(&r.Way, "way", "response-only", strings.Join(train.WayNames, ", "))
	flag.IntVar(&r.Prompt, "prompt", 1024, "tokens of the prompt")
	flag.IntVar(&r.Answers, "answers", 2, "to the prompt")
	flag.IntVar(&r.Response, "response", 64, "tokens of an answer")
	dir := flag.String("dir", "", "where memory goes")
	memory := flag.Int64("memory", 0, "bytes that stay in memory where there is a dir")
	threads := flag.Int("threads", 2, "")
	rows := flag.Int("rows", 0, "most rows of a piece")
	reach := flag.Int("reach", 0, "positions up to which pieces have so many")
	lengths := flag.String("compare", "", "compare gradients after prompts of such `lengths` instead, such as 64,256")
	text := flag.String("text", "docs/ARCHITECTURE.md", "prompts of -compare are its beginning")
	adapter := flag.String("adapter", "adapters/L0", "of -compare")
	flag.Parse()
	if *lengths != "" {
		n, err := numbers(*lengths)
		if err == nil {
			err = compare(*path, *text, *adapter, n)
		}
		exit(err)
		return
	}
	exit(r.run(*path, *threads, train.Options{Rows: *rows, Reach: *reach, Spill: train.Spill{Dir: *dir, Memory: *memory}}))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "longstraw:", err)
		os.Exit(1)
	}
}

// timed is turns that take the time.
type timed struct {
	train.Alone
	wall, cpu []float64
}

func (t *timed) Do(ctx context.Context, piece func(*kernel.Pool)) error {
	start, cpu := time.Now(), processor()
	err := t.Alone.Do(ctx, piece)
	t.wall, t.cpu = append(t.wall, time.Since(start).Seconds()), append(t.cpu, processor()-cpu)
	return err
}

// processor is the seconds of processors that this process has used.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// status reads a line of the process's memory, in bytes.
func status(name string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		var kb int64
		if _, err := fmt.Sscanf(line, name+": %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return 0
}

func (r *result) run(path string, threads int, o train.Options) error {
	src, err := model.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	m, err := model.Load(src, threads, nil)
	if err != nil {
		return err
	}
	turns := &timed{Alone: train.Alone{Pool: kernel.NewPool(threads)}}
	defer turns.Pool.Close()
	way, err := train.ParseWay(r.Way)
	if err != nil {
		return err
	}
	o.Context = r.Prompt + r.Response
	p := &passes{Graph: train.NewGraph(m, turns, o), started: processor()}
	t, err := train.New(p, m.Shape("base"), o.Context, train.Spec{Rank: 16, Attn: true, MLP: true, Seed: 1})
	if err != nil {
		return err
	}
	defer t.Close()
	data := r.data()
	r.BaseRSS = status("VmRSS")
	start, cpu := time.Now(), processor()
	if _, err := t.ForwardBackward(context.Background(), data, train.Loss{Name: "importance_sampling", Config: map[string]float64{"prefix_mode": float64(way)}}); err != nil {
		return err
	}
	r.Seconds, r.CPU, r.FirstCPU = time.Since(start).Seconds(), processor()-cpu, p.first-cpu
	r.Memory, r.PeakRSS = p.found.Memory, status("VmHWM")
	r.pieces(turns)
	return json.NewEncoder(os.Stdout).Encode(r)
}
