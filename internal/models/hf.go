package models

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

const defaultEndpoint = "https://huggingface.co"

// hf fetches a file of a repository by HTTP and goes on where an earlier transfer
// broke off, as long as the server says that the file is still the same. No
// credentials are ever sent.
func (f *Fetcher) hf(t *transfer, src source) error {
	address, err := f.address(src)
	if err != nil {
		return err
	}
	if err := t.resume(); err != nil {
		return err
	}
	resp, err := f.get(t, address)
	if err != nil {
		return stopped(t.ctx, err)
	}
	defer resp.Body.Close() // what matters of it has been read
	total, err := t.accept(resp)
	if err != nil {
		return err
	}
	if err := t.remember(resp.Header.Get("ETag")); err != nil {
		return err
	}
	if err := t.copy(resp.Body, total); err != nil {
		return err
	}
	return t.forget()
}

func (f *Fetcher) address(src source) (string, error) {
	base := f.Endpoint
	if base == "" {
		base = defaultEndpoint
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname()))) {
		return "", errs.New(errs.InvalidRequest, "the address of hf sources is not an https URL", "correct HF_ENDPOINT, or unset it")
	}
	return u.JoinPath(src.repo, "resolve", src.rev, src.file).String(), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// client allows slow transfers but no silent server.
func (f *Fetcher) client() *http.Client {
	if f.Client != nil {
		return f.Client
	}
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.ResponseHeaderTimeout = 30 * time.Second
	tr.DisableCompression = true
	return &http.Client{Transport: tr, CheckRedirect: safeRedirect}
}

// safeRedirect follows to other hosts, as file servers do, but never from https to http.
func safeRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return fmt.Errorf("more than 10 redirects")
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("a redirect leads from https to %s", req.URL.Scheme)
	}
	return nil
}

func (f *Fetcher) get(t *transfer, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(t.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if tag := t.tag(); t.done > 0 && tag != "" {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", t.done))
		req.Header.Set("If-Range", tag)
	}
	return f.client().Do(req)
}

// accept reads the status and gives the size of the whole file, -1 if unknown. It
// starts over when the server sends the file from its start.
func (t *transfer) accept(resp *http.Response) (int64, error) {
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.ContentLength, t.restart()
	case http.StatusPartialContent:
		var from, to, total int64
		n, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &total)
		if err == nil && n == 3 && from == t.done && total > to {
			return total, nil
		}
		return 0, errs.New(errs.SourceUnreachable, "the server sent another part of the file than was asked for", "try again")
	case http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden:
		return 0, errs.Newf(errs.SourceUnreachable, "the server answered %s: there is no such public file", resp.Status)
	}
	return 0, errs.Newf(errs.SourceUnreachable, "the server answered %s", resp.Status)
}

// tag is what the server called the version of the file that the partial file is of.
func (t *transfer) tag() string {
	f, err := t.store.root.Open(t.scratch + ".etag")
	if err != nil {
		return ""
	}
	defer f.Close() // read-only
	b, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil || strings.ContainsAny(string(b), "\r\n") {
		return ""
	}
	return string(b)
}

// remember keeps a strong tag for the next attempt; without one there is no resuming.
func (t *transfer) remember(tag string) error {
	if tag == "" || strings.HasPrefix(tag, "W/") || len(tag) > 1<<10 {
		return t.forget()
	}
	if err := t.store.root.WriteFile(t.scratch+".etag", []byte(tag), 0o600); err != nil {
		return disk.Error(err, "the version of the file cannot be noted")
	}
	return nil
}

func (t *transfer) forget() error {
	name := t.scratch + ".etag"
	if _, err := t.store.root.Stat(path.Clean(name)); err != nil {
		return nil // there is none
	}
	if err := t.store.root.Remove(name); err != nil {
		return disk.Error(err, "the version of the file cannot be forgotten")
	}
	return nil
}
