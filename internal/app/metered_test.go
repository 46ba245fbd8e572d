package app

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/money"
)

func TestRequestLimitsAndTheirHeaders(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"slow": {Limits: limits.Quota{Requests: 2, Tokens: 1000}}, "free": {}})
	slow := with("Bearer", secrets["slow"])
	for i := range 2 {
		resp, _ := k.send("GET", "/v1/models", "", slow)
		if h := resp.Header; resp.StatusCode != 200 || h.Get("x-ratelimit-limit-requests") != "2" || h.Get("x-ratelimit-remaining-requests") != []string{"1", "0"}[i] ||
			h.Get("x-ratelimit-reset-requests") == "" || h.Get("x-ratelimit-limit-tokens") != "1000" {
			t.Errorf("%d: %d %v", i, resp.StatusCode, h)
		}
	}
	resp, body := k.send("GET", "/v1/models", "", slow)
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "30" || !strings.Contains(body, "rate_limit_error") || !strings.Contains(body, string(errs.RateLimited)) {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
	}
	resp, _ = k.send("GET", "/v1/models", "", with("Bearer", secrets["free"]))
	if resp.StatusCode != 200 || resp.Header.Get("x-ratelimit-limit-requests") != "" {
		t.Errorf("a key without bounds: %d %v", resp.StatusCode, resp.Header)
	}
}

// A budget counts every model call: of the key those that it asked for, of the tenant all.
func TestTokenBudgets(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"budget": {Limits: limits.Quota{DayTokens: 1}}, "same tenant": {}})
	budget := with("Bearer", secrets["budget"])
	for i, stream := range []bool{false, true} {
		o := ask(user("L2: x"))
		if stream {
			o = streamed(o)
		}
		resp := k.post(o, budget)
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && resp.StatusCode != 200 || i == 1 && (resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "") {
			t.Errorf("%d: %d %v %s", i, resp.StatusCode, resp.Header, text)
		}
	}
	if resp := k.post(ask(user("L2: x")), with("Bearer", secrets["same tenant"])); resp.StatusCode != 200 {
		t.Errorf("the tenant's other key: %d", resp.StatusCode)
	}
	used := k.keys.Usage()
	sum := int64(0)
	for id, s := range used {
		if id != "acme" {
			sum += s.OfDay.Tokens
		}
	}
	if sum == 0 || used["acme"].OfDay.Tokens < sum {
		t.Errorf("used were %+v", used)
	}
}

func TestTurnsAtOnceOfAKey(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"one": {Limits: limits.Quota{Turns: 1}}})
	one := with("Bearer", secrets["one"])
	leave, err := func() (func(), error) {
		p, err := k.keys.Authenticate(t.Context(), http.Header{"X-Api-Key": {secrets["one"]}})
		if err != nil {
			return nil, err
		}
		return p.Enter(k.clock.Now())
	}()
	if err != nil {
		t.Fatal(err)
	}
	if resp := k.post(ask(user("L2: x")), one); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a second turn gives %d", resp.StatusCode)
	}
	leave()
	if resp := k.post(ask(user("L2: x")), one); resp.StatusCode != 200 {
		t.Errorf("the next turn gives %d", resp.StatusCode)
	}
}

// Every model call of a turn says what it cost, in the answer and in the log.
func TestCostsStandOnHops(t *testing.T) {
	cfg := settings(t, t.TempDir())
	cfg.Prices = money.Table{{Model: "L2", Rate: money.Rate{Input: 3e9, Cached: 3e8, Output: 15e9}}, {Engine: "scripted", Rate: money.Rate{Input: 1e9, Cached: 1e9, Output: 1e9}}}
	s := start(t, cfg, &backendtest.Scripted{})
	o := s.object(s.post(ask(user("L2: x"))))
	hops := at[[]any](o, "macaron", "hops")
	stored := s.settled().Hops
	if len(hops) != 2 || len(stored) < 2 {
		t.Fatalf("%v %v", hops, stored)
	}
	for i, h := range stored[:2] {
		rate := money.Rate{Input: 1e9, Cached: 1e9, Output: 1e9}
		if h.Adapter.Name == "L2" {
			rate = cfg.Prices[0].Rate
		}
		want := rate.Cost(h.Usage.PromptTokens, h.Usage.CachedTokens, h.Usage.OutputTokens)
		if got := at[float64](hops[i], "cost_usd"); want == 0 || h.CostUSD != want || money.Of(got) != want {
			t.Errorf("the hop %s costs %s in the log and %v in the answer, not %s", h.Hop, h.CostUSD, got, want)
		}
	}
}
