package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A password of the store is in the URL that the program uses, and in nothing that it
// shows, prints or says.
func TestPasswordOfTheStoreIsNotShown(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "password")
	write(t, file, "hush&m@re\n")
	for _, tc := range []struct{ url, want string }{
		{"postgres://u:hushmore@h:5/d", "postgres://u:hushmore@h:5/d"},
		{"postgres://u@h/d?sslmode=require", "postgres://u:hush&m%40re@h/d?sslmode=require"},
		{"postgres://h/d?password=hushmore&user=u", "postgres://h/d?password=hushmore&user=u"},
	} {
		pairs := []string{"MACARON_HOME", home, "MACARON_STORE", tc.url}
		if !strings.Contains(tc.url, "hush") {
			pairs = append(pairs, "MACARON_STORE_PASSWORD_FILE", file)
		}
		c, err := load(nil, environment(pairs...))
		if err != nil || c.Store.URL.Reveal() != tc.want {
			t.Errorf("%q %v", c.Store.URL.Reveal(), err)
		}
		for _, shown := range []string{fmt.Sprint(c.Show()), fmt.Sprint(c.Store.URL), fmt.Sprintf("%v %+v", c.Store, c.Store), c.Store.Display} {
			if strings.Contains(shown, "hush") {
				t.Errorf("the password is in %q", shown)
			}
		}
	}
	_, err := load(nil, environment("MACARON_HOME", home, "MACARON_STORE", "mysql://u:hush@h/d"))
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
}

func TestRetentionIsInDays(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "config.toml"), "[retention]\ndays = 30\n[retention.tenants]\nacme = 7\nkept = 0\n")
	c, err := load(nil, environment("MACARON_HOME", home))
	if err != nil || c.Store.Keep != 30*24*time.Hour || c.Store.Tenants["acme"] != 7*24*time.Hour || len(c.Store.Tenants) != 2 {
		t.Errorf("%+v %v", c.Store, err)
	}
	for _, wrong := range []string{"x", "-1", "99999"} {
		if _, err := load(nil, environment("MACARON_HOME", home, "MACARON_RETENTION_DAYS", wrong)); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}
