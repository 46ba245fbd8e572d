package config

import "testing"

func TestPrices(t *testing.T) {
	for text, want := range map[string]Price{
		"prompt=3,cached=0.3,output=15": {true, 3, 0.3, 15},
		"output=0, prompt=1":            {true, 1, 1, 0},
	} {
		var c Config
		if err := setPrice(&c, text); err != nil || c.Runs.Price != want {
			t.Errorf("%q: %+v %v", text, c.Runs.Price, err)
		}
	}
	for _, text := range []string{"", "3", "prompt=1", "prompt=1,output=x", "prompt=-1,output=1", "prompt=1,prompt=1,output=1", "prompt=NaN,output=1", "prompt=1,output=1,tax=1"} {
		if err := setPrice(&Config{}, text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
