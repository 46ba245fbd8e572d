package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// subject is a running proxy.
type subject struct {
	Name   string
	base   string
	client *client
	cmd    *exec.Cmd
	log    string
	// drained waits until the work of all turns is done, the summaries' too.
	drained func() error
}

// process starts a command whose output goes to a file and waits until it serves path.
func process(dir, name, path, address string, env []string, command ...string) (*subject, error) {
	s := &subject{Name: name, base: "http://" + address, log: filepath.Join(dir, name+".log"), drained: func() error { return nil }}
	out, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	s.cmd = exec.Command(command[0], command[1:]...)
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr, s.cmd.Dir = append(s.cmd.Environ(), env...), out, out, dir
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if resp, err := http.Get(s.base + path); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return s, nil
			}
		}
	}
	s.stop()
	text, err := os.ReadFile(s.log)
	return nil, errors.Join(fmt.Errorf("%s does not serve %s: %s", name, path, text[max(0, len(text)-2000):]), err)
}

func (s *subject) stop() {
	if s.cmd.Process.Signal(syscall.SIGTERM) == nil {
		_ = s.cmd.Wait() // it was told to end; how does not matter
	}
}

// freeAddress gives an address on this machine that nobody uses now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// port is the part behind the last colon.
func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// cpu is the user and system time of the process so far (proc_pid_stat(5), fields 14 and 15
// in hundredths of a second).
func (s *subject) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from field 3 on
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err, err2)
}

// rss is the resident memory in MB.
func (s *subject) rss() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kb / 1024, err
}

// plainly asks for no compression, which the subject would pay for.
var plainly = &http.Client{Transport: &http.Transport{DisableCompression: true}}

// metric sums a family of the Prometheus text format over the lines that hold a text.
func (s *subject) metric(family, with string) (float64, error) {
	resp, err := plainly.Get(s.base + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	sum := 0.0
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(name, family) && strings.Contains(name, with) {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			sum += v
		}
	}
	return sum, err
}

// summarised waits until every delivered turn of a macaron has its summary.
func (s *subject) summarised() error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		turns, err := s.metric("macaron_turns_total", `status="delivered"`)
		if err != nil {
			return err
		}
		if done, err := s.metric("macaron_summaries_total", ""); err != nil || done >= turns {
			return err
		}
	}
	return errors.New("the summaries did not come to an end within two minutes")
}
