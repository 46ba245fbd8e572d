package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/engine/enginetest"
	"macaron/internal/ids"
	revisions "macaron/internal/mint/catalogue"
)

// publish enters adapters of the tiny model in the catalogue of a running server.
func (s *site) publish(n int) []ids.Digest {
	s.t.Helper()
	var drafts []revisions.Draft
	for i := range n {
		f, err := revisions.ReadDir(enginetest.Adapter(s.t, uint64(100+i)))
		if err != nil {
			s.t.Fatal(err)
		}
		drafts = append(drafts, revisions.Draft{Files: f, Name: "L1"})
	}
	all, err := s.revisions.PublishAll(s.t.Context(), auth.Local, drafts)
	if err != nil {
		s.t.Fatal(err)
	}
	var hashes []ids.Digest
	for _, p := range all {
		hashes = append(hashes, p.Hash)
	}
	return hashes
}

// said asks L1 and gives the answer with the revision that it names.
func (s *site) said(name string) (text, revision string) {
	o := s.object(s.post(object{"model": "macaron/L1", "messages": []any{user("what now?")}, "temperature": 0, "user": name}))
	choices, ok := o["choices"].([]any)
	if !ok {
		s.t.Errorf("%s: %v", name, o)
		return "", ""
	}
	revision, _ = o["macaron"].(object)["revision"].(string)
	return choices[0].(object)["message"].(object)["content"].(string), revision
}

// While the champion changes, every request is answered, each by one revision from its
// beginning to its end, which is the one that it names.
func TestPromotionUnderLoad(t *testing.T) {
	s := engineSite(t)
	hashes := s.publish(3)
	wait, before := s.said("before")
	want := map[string]string{before: wait}
	promote := func(h ids.Digest) {
		t.Helper()
		code, o := s.postTo("/v1/policies/L1/promote", fmt.Sprintf(`{"revision":%q,"reason":"test"}`, h))
		if code != http.StatusOK || o["revision"] != string(h) {
			t.Fatalf("%d %v", code, o)
		}
	}
	for _, h := range hashes {
		promote(h)
		text, rev := s.said("alone")
		if rev != string(h) {
			t.Fatalf("%s is promoted, %s answers", h, rev)
		}
		want[rev] = text
	}
	answers := map[string]bool{}
	for _, text := range want {
		answers[text] = true
	}
	if len(want) != 4 || len(answers) < 3 {
		t.Fatalf("the revisions say %v", want)
	}
	var clients sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for c := range 4 {
		clients.Go(func() {
			for n := range 12 {
				text, rev := s.said(fmt.Sprintf("c%d-%d", c, n))
				if text != want[rev] {
					t.Errorf("%s said %q, not %q", rev, text, want[rev])
				}
				mu.Lock()
				seen[rev]++
				mu.Unlock()
			}
		})
	}
	for n := range 30 {
		promote(hashes[n%3])
	}
	clients.Wait()
	if len(seen) < 2 {
		t.Errorf("only %v answered", seen)
	}
	if code, o := s.postTo("/v1/policies/L1/promote", `{"reason":"back"}`); code != http.StatusOK {
		t.Fatalf("%d %v", code, o)
	}
	if text, rev := s.said("after"); rev != before || text != wait {
		t.Errorf("back at the contract's source %s says %q", rev, text)
	}
}

// What the record says of a turn tells where its revision came from.
func TestExplainNamesThePolicy(t *testing.T) {
	s := engineSite(t)
	h := s.publish(1)[0]
	for _, version := range []string{"0", "0", "1"} {
		code, o := s.postTo("/v1/policies/L1/promote", fmt.Sprintf(`{"revision":%q,"version":%s}`, h, version))
		if (code == http.StatusOK) != (o["version"] == float64(1) || o["version"] == float64(2)) {
			t.Errorf("%d %v", code, o)
		}
	}
	o := s.object(s.post(object{"model": "macaron/L1", "messages": []any{user("what now?")}}))
	code, text := s.get("/admin/route/" + o["macaron"].(object)["turn"].(string))
	if code != http.StatusOK || !strings.Contains(text, `"source": "policy:2"`) || !strings.Contains(text, string(h)) {
		t.Errorf("%d %s", code, text)
	}
	for path, says := range map[string]string{
		"/v1/revisions?name=L1&limit=1":                                 string(h),
		"/v1/revisions/" + string(h):                                    `"lineage":[]`,
		"/v1/revisions/" + string(h) + "/files/" + revisions.ConfigFile: "lora_alpha",
		"/v1/policies": `"alias":"champion"`, "/v1/policies/L1": string(h), "/v1/policies/L1/history": `"version":1`,
	} {
		if code, text := s.get(path); code != http.StatusOK || !strings.Contains(text, says) {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	for path, body := range map[string]string{
		"/v1/policies/L9/promote": `{"revision":"` + string(h) + `"}`, "/v1/policies/L1/promote": `{"revision":"x"}`, "/v1/policies/L1/rollback": `{"revision":"` + string(h) + `"}`,
		"/v1/policies/L1/alias/champion": `{"revision":"` + string(h) + `"}`, "/admin/revisions/gc": `{"dry":true}`, "/v1/policies/L2/rollback": `{}`,
	} {
		if code, o := s.postTo(path, body); code/100 != 4 {
			t.Errorf("%s %s: %d %v", path, body, code, o)
		}
	}
	if code, o := s.postTo("/admin/revisions/gc", `{}`); code != http.StatusOK || o["reached"] != float64(1) {
		t.Errorf("%d %v", code, o)
	}
}
