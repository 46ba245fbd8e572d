package train

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

const trainHere = "MACARON_TEST_TRAIN_IN" // a directory: the test binary is the trainer that is killed

// TestKilledTrainerResumes: a process that keeps a checkpoint after every step is killed
// with no notice, several times; the one that goes on ends where an undisturbed one ends.
func TestKilledTrainerResumes(t *testing.T) {
	const steps = 40
	if dir := os.Getenv(trainHere); dir != "" {
		trainUntil(t, dir, 9+stepsIn(dir))
		select {} // until it is killed
	}
	dir := t.TempDir()
	for range 3 {
		killAfter(t, dir, 5)
	}
	if n := stepsIn(dir); n < 15 || n >= steps {
		t.Fatalf("%d steps before the last start", n)
	}
	got := trainUntil(t, dir, steps)
	if want := trainUntil(t, t.TempDir(), steps); got != want {
		t.Errorf("after three kills the revision is %s, without any %s", got, want)
	}
}

// stepsIn is how far the trainer of a directory is.
func stepsIn(dir string) int64 {
	if c, err := Latest(dir); err == nil {
		return c.Steps
	}
	return 0
}

// trainUntil goes on from the latest checkpoint in dir and tells of each step.
func trainUntil(t *testing.T, dir string, steps int64) string {
	p := scripted{gradient: 0.01}
	tr := newTrainer(t, p, everything)
	if c, err := Latest(dir); err == nil {
		if tr, err = Resume(p, shape(), 64, c, All); err != nil {
			t.Fatal(err)
		}
	}
	for tr.Steps() < steps {
		back(t, tr, 1/float32(1+tr.Steps()))
		if _, err := tr.OptimStep(t.Context(), DefaultAdam); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Keep(dir, ""); err != nil {
			t.Fatal(err)
		}
		if os.Getenv(trainHere) != "" {
			fmt.Println("step", tr.Steps())
		}
	}
	return hash(t, tr)
}

// killAfter runs this test's binary as a trainer and kills it after it told of so many steps.
func killAfter(t *testing.T, dir string, told int) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKilledTrainerResumes$")
	c.Env = append(os.Environ(), trainHere+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range told {
		if !lines.Scan() {
			t.Fatal("the trainer ended early")
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Fatal("the trainer was not killed")
	}
}
