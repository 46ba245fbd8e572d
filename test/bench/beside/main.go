// Command beside measures how long chat waits for its first text while a training run goes
// on on the same base, next to a server that does nothing else.
//
//	go run ./test/bench/beside [-n 40] COMMAND [ARGUMENT ...]
//
// COMMAND trains with TINKER_BASE_URL until it is ended.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"macaron/test/eval"
)

func main() {
	program := flag.String("program", "bin/macaron", "the built program")
	n := flag.Int("n", 40, "requests of each side")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("name the command that trains")
	}
	if err := run(context.Background(), *program, *n, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, program string, n int, command []string) error {
	s, err := eval.Start(ctx, program, func(c string) string { return c })
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // a measurement's own home
	// The prompts of the router and of the specialists are read once, as in any server that is up.
	if _, err := ask(ctx, s, "warm", 2*len(questions)); err != nil {
		return err
	}
	idle, err := ask(ctx, s, "idle", n)
	if err != nil {
		return err
	}
	stop, err := load(s, command)
	if err != nil {
		return err
	}
	defer stop()
	if err := steps(ctx, s, 1); err != nil {
		return err
	}
	before, begun := operations(s), time.Now()
	busy, err := ask(ctx, s, "busy", n)
	if err != nil {
		return err
	}
	report(idle, busy, operations(s), before, time.Since(begun))
	return nil
}

// load starts what trains, in a process group that stop ends.
func load(s *eval.Server, command []string) (stop func(), err error) {
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(c.Environ(), "TINKER_BASE_URL="+s.URL)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
		_ = c.Wait() // it was told to end
	}, nil
}

// steps waits until so many optimizer steps are done.
func steps(ctx context.Context, s *eval.Server, n int) error {
	for range 1200 {
		if operations(s)["optim_step"] >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
	}
	return fmt.Errorf("nothing has trained within 5 minutes")
}

// operations are what the training service has done, by kind.
func operations(s *eval.Server) map[string]int {
	out := map[string]int{}
	r, err := http.Get(s.URL + "/metrics")
	if err != nil {
		return out
	}
	defer r.Body.Close() // read to its end
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		rest, is := strings.CutPrefix(lines.Text(), `macaron_training_operations_total{op="`)
		if name, end, found := strings.Cut(rest, `",outcome="done"} `); is && found {
			out[name], _ = strconv.Atoi(end)
		}
	}
	return out
}

var questions = []string{
	"What is the capital of Norway?", "Give me a name for a grey cat.", "Write a short greeting for a letter to a neighbour.", "Why is the sky blue?",
	"Convert 12 inches to centimetres.", "Suggest a dish with lentils.", "What does a compiler do?", "Translate good morning into French.",
}

// ask sends n requests of new users, some time apart, and gives the milliseconds to the
// first text of each. The pauses are the same on both sides and fall on every part of a step.
func ask(ctx context.Context, s *eval.Server, side string, n int) (first []float64, err error) {
	random := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		text := fmt.Sprintf("%s This is question %d of %s.", questions[i%len(questions)], i, side)
		t, err := s.Stream(ctx, []eval.Message{{Role: "user", Content: text}}, map[string]any{"temperature": 0, "max_tokens": 8, "user": fmt.Sprint(side, i)})
		if err != nil {
			return nil, err
		}
		first = append(first, float64(t.First.Microseconds())/1000)
		time.Sleep(time.Duration(random.IntN(800)) * time.Millisecond)
	}
	return first, nil
}

func report(idle, busy []float64, after, before map[string]int, took time.Duration) {
	fmt.Printf("to the first text of an answer, %d requests of each side; during the second %d passes, %d steps and %d samples in %.0f s\n\n",
		len(idle), after["forward_backward"]-before["forward_backward"], after["optim_step"]-before["optim_step"], after["sample"]-before["sample"], took.Seconds())
	fmt.Printf("| | median | p95 | worst |\n|---|---|---|---|\n")
	for _, side := range []struct {
		name string
		ms   []float64
	}{{"nothing else", idle}, {"beside training", busy}} {
		fmt.Printf("| %s | %.0f ms | %.0f ms | %.0f ms |\n", side.name, at(side.ms, 0.5), at(side.ms, 0.95), at(side.ms, 1))
	}
	fmt.Printf("| ratio | %.2f | %.2f | %.2f |\n", at(busy, 0.5)/at(idle, 0.5), at(busy, 0.95)/at(idle, 0.95), at(busy, 1)/at(idle, 1))
}

func at(v []float64, q float64) float64 {
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}
