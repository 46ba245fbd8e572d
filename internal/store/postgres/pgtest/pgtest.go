// Package pgtest runs a private Postgres for tests: its own cluster in a temporary
// directory, reached by a Unix socket, gone with the tests. The server's programs must
// be installed; a missing one fails the test and names the command that installs it.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Around stops the cluster when the tests have run. Use it in TestMain.
func Around(m *testing.M) Tests { return Tests{m} }

// Tests are those of one package, with the end of the cluster behind them.
type Tests struct{ m *testing.M }

// Run runs the tests.
func (t Tests) Run() int {
	defer func() {
		if shared.stop != nil {
			shared.stop()
		}
	}()
	return t.m.Run()
}

// Database gives the URL of a new, empty database on the cluster of this package's
// tests, which is started when the first one asks.
func Database(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.dir, shared.stop, shared.err = start() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	name := fmt.Sprintf("test%d", shared.count.Add(1))
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	c, err := pgx.Connect(ctx, at("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return at(name)
}

var shared struct {
	once  sync.Once
	dir   string
	stop  func()
	err   error
	count atomic.Int64
}

// superuser is the cluster's one user.
const superuser = "macaron"

func at(database string) string {
	q := url.Values{"host": {shared.dir}}
	return (&url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + database, RawQuery: q.Encode()}).String()
}

// start makes a cluster and waits until it answers.
func start() (dir string, stop func(), err error) {
	initdb, err := program("initdb")
	if err != nil {
		return "", nil, err
	}
	server, err := program("postgres")
	if err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", "pg"); err != nil {
		return "", nil, err
	}
	who, err := runAs(dir)
	if err != nil {
		return "", nil, err
	}
	data := filepath.Join(dir, "data")
	cmd := exec.CommandContext(context.Background(), initdb, "-D", data, "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.SysProcAttr, cmd.Dir = who, dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	// Without fsync: what is tested here is not Postgres' own durability.
	cmd = exec.CommandContext(context.Background(), server, "-D", data, "-k", dir, "-h", "", "-F", "-c", "max_connections=200", "-c", "log_min_messages=fatal", "-c", "shared_buffers=32MB")
	cmd.SysProcAttr, cmd.Dir = who, dir
	end, err := child(cmd)
	if err != nil {
		return "", nil, err
	}
	stop = func() { end(); os.RemoveAll(dir) }
	shared.dir = dir
	if err := answers(); err != nil {
		stop()
		return "", nil, err
	}
	return dir, stop, nil
}

func answers() error {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	for {
		c, err := pgx.Connect(ctx, at("postgres"))
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// program finds one of Postgres' server programs, which Debian keeps out of PATH; of
// several versions it takes the last.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("%s is not installed, and these tests run a real Postgres; Debian: apt-get install postgresql", name)
	}
	return slices.Max(found), nil
}
