package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/model"
	"macaron/internal/train"
)

// batch is the data of a case. step.py makes the same tokens.
type batch struct {
	data   []train.Datum
	tokens int
}

// token i of sequence j; prompts are sequence 0.
func token(j, i int) int32 { return int32((j*7919 + i*104729 + i*i*31) % 40000) }

// batchOf makes the data of a case: sequences whose every token is a target, or answers
// with advantages after a prompt that they share.
func batchOf(name string) batch {
	var b batch
	if name == "plain" {
		for j := range 4 {
			b.add(0, 256, j+1, 1)
		}
		return b
	}
	for j := range 16 {
		b.add(200, 50, j+1, float64(j%4)-1.5)
	}
	return b
}

// add makes one datum: tokens [prompt+answer+1], shifted by one.
func (b *batch) add(prompt, answer, j int, weight float64) {
	n := prompt + answer
	var tokens []int32
	for i := range n + 1 {
		if i < prompt {
			tokens = append(tokens, token(0, i))
		} else {
			tokens = append(tokens, token(j, i))
		}
	}
	targets, weights := train.Tensor{Shape: []int64{int64(n)}}, train.Tensor{Shape: []int64{int64(n)}}
	for i := range n {
		targets.Ints = append(targets.Ints, int64(tokens[i+1]))
		w := weight
		if i+1 < prompt {
			w = 0
		}
		weights.Floats = append(weights.Floats, float32(w))
	}
	b.data = append(b.data, train.Datum{Tokens: tokens[:n], Inputs: map[string]train.Tensor{"target_tokens": targets, "weights": weights}})
	b.tokens += n
}

// trainee is our side.
type trainee struct {
	pool    *kernel.Pool
	trainer *train.Trainer
	batch   batch
}

func newTrainee(o *options) (*trainee, error) {
	src, err := model.Open(o.model)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	m, err := model.Load(src, o.threads, nil)
	if err != nil {
		return nil, err
	}
	t := &trainee{pool: kernel.NewPool(o.threads), batch: batchOf(o.side)}
	g := train.NewGraph(m, train.Alone{Pool: t.pool}, train.Options{})
	t.trainer, err = train.New(g, m.Shape("base"), m.Context, train.Spec{Rank: 16, Attn: true, MLP: true, Seed: 1})
	return t, err
}

// step is forward, backward and optimizer.
func (t *trainee) step(ctx context.Context) (answer, error) {
	start, cpu := time.Now(), processor()
	out, err := t.trainer.ForwardBackward(ctx, t.batch.data, train.Loss{Name: "cross_entropy"})
	if err != nil {
		return answer{}, err
	}
	if _, err := t.trainer.OptimStep(ctx, train.DefaultAdam); err != nil {
		return answer{}, err
	}
	return answer{Seconds: time.Since(start).Seconds(), CPU: processor() - cpu, Loss: out.Metrics["loss:sum"], PeakKB: peak()}, nil
}

// peak is the most memory of this process, in kB.
func peak() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		kb := 0
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb
		}
	}
	return 0
}

// processor is the seconds of processors that this process has used.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
