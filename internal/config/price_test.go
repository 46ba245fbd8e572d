package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/money"
)

func TestThePriceOfEverything(t *testing.T) {
	for text, want := range map[string]money.Rate{
		"input=3,cached=0.3,output=15": {Input: 3e9, Cached: 3e8, Output: 15e9},
		"output=0, input=1":            {Input: 1e9, Cached: 1e9},
	} {
		var c Config
		if err := setPrice(&c, text); err != nil || *c.Price != want {
			t.Errorf("%q: %+v %v", text, c.Price, err)
		}
	}
	for _, text := range []string{"", "3", "input=1", "input=1,output=x", "input=-1,output=1", "input=1,input=1,output=1", "input=NaN,output=1", "input=1,output=1,tax=1", "input=1000001,output=1", "model=1,input=1,output=1"} {
		if err := setPrice(&Config{}, text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// What is set first counts less: price is behind every table.
func TestPriceTables(t *testing.T) {
	home := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[[prices]]\nengine = \"gpu\"\nmodel = \"L2\"\ninput = 0.1\ncached = \"0.025\"\noutput = 2\n[[prices]]\nmodel = \"L1\"\ninput = 7\noutput = 0\n")
	none := func(string) (string, bool) { return "", false }
	c, err := load(map[string]string{"home": home, "price": "input=1,output=1"}, none)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		engine, model string
		input, cached money.USD
	}{{"gpu", "L2", 1e8, 25e6}, {"gpu", "L1", 7e9, 7e9}, {"cpu", "L2", 1e9, 1e9}} {
		if got, known := c.PriceTable().Find(want.engine, want.model); !known || got.Input != want.input || got.Cached != want.cached {
			t.Errorf("%s %s: %+v", want.engine, want.model, got)
		}
	}
	write("[[prices]]\ninput = 7\noutput = 0\n")
	next, err := load(map[string]string{"home": home, "price": "input=1,output=1"}, none)
	if err != nil || len(Diff(c, next)) != 1 || Diff(c, next)[0] != (Change{"prices", OnReload}) {
		t.Errorf("%+v %v", Diff(c, next), err)
	}
	if got, _ := next.PriceTable().Find("x", "y"); got.Input != 7e9 {
		t.Errorf("a table for everything gives way to price: %+v", got)
	}
	for text, part := range map[string]string{
		"prices = 3": "[[prices]]", "[[prices]]\ninput = 1": "output", "[[prices]]\ninput = 1\noutput = true": "number",
		"[[prices]]\nadapter = \"x\"": "known are engine, model", "[[prices]]\ninput = 1\noutput = 0.0000000001": "nine decimals",
		"[[prices]]\ninput = 1\noutput = 1\n[[prices]]\ninput = 1\noutput = 1": "same engine",
	} {
		write(text)
		if _, err := load(map[string]string{"home": home}, none); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
