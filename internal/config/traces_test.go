package config

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTracesByTheStandardVariables(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct {
		env      []string
		endpoint string
		on       bool
	}{
		{nil, "", false},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318/"}, "http://h:4318/v1/traces", true},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/x"}, "http://t/x", true},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318", "OTEL_SDK_DISABLED", "TRUE"}, "http://h:4318/v1/traces", false},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318", "OTEL_TRACES_EXPORTER", "none"}, "http://h:4318/v1/traces", false},
	} {
		got, err := load(nil, environment(append(c.env, "MACARON_HOME", home)...))
		if err != nil || got.Traces.Endpoint != c.endpoint || got.Traces.On() != c.on || got.Traces.Content || got.Traces.Sample != nil {
			t.Errorf("%v: %+v, %v", c.env, got.Traces, err)
		}
	}
	write(t, filepath.Join(home, "headers"), "x-key=sk-canary\n")
	write(t, filepath.Join(home, "config.toml"), "[traces]\nendpoint = \"https://o.example/v1/traces\"\nsample = 0.25\ncontent = true\nheaders_file = \""+filepath.Join(home, "headers")+"\"\n")
	got, err := load(nil, environment("MACARON_HOME", home))
	if err != nil || !got.Traces.On() || !got.Traces.Content || *got.Traces.Sample != 0.25 || got.Traces.Headers.Reveal() != "x-key=sk-canary" {
		t.Errorf("%+v, %v", got.Traces, err)
	}
	for key, bad := range map[string]string{"traces.endpoint": "http://user:pw@h/x", "traces.sample": "1.5", "traces.content": "maybe", "traces.exporter": "console"} {
		if _, err := load(map[string]string{key: bad}, environment("MACARON_HOME", home)); err == nil {
			t.Errorf("%s = %s was taken", key, bad)
		}
	}
}

// What a reload looks at: credentials count by value, wherever they come from.
func TestDiff(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "key"), "sk-one")
	read := func() Config {
		t.Helper()
		c, err := load(map[string]string{"upstream.url": "http://h/v1", "upstream.key_file": filepath.Join(home, "key")}, environment("MACARON_HOME", home))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := read()
	if d := Diff(before, read()); len(d) != 0 {
		t.Errorf("equal settings differ: %v", d)
	}
	write(t, filepath.Join(home, "key"), "sk-two")
	write(t, filepath.Join(home, "config.toml"), "model = \"other\"\n")
	got := map[string]When{}
	for _, c := range Diff(before, read()) {
		got[c.Key] = c.When
	}
	if diff := cmp.Diff(map[string]When{"upstream.key_file": OnReload, "model": AtStart}, got); diff != "" {
		t.Error(diff)
	}
}
