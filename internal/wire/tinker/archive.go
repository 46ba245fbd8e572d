package tinker

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mint"
)

// shelf is how long an address of a download is good.
const shelf = 15 * time.Minute

// archiveName is the file of a download that is the whole archive.
const archiveName = "archive.tar.gz"

// ticket is what an address of a download stands for. It is signed: whoever has the address
// may fetch, since clients do so without their key.
type ticket struct {
	Owner   string `json:"o"`
	Path    string `json:"p"`
	Expires int64  `json:"e"` // Unix seconds
}

func (a *api) sign(t ticket) string {
	text := base64.RawURLEncoding.EncodeToString(encode(t))
	return text + "." + base64.RawURLEncoding.EncodeToString(a.mac("download", text))
}

func (a *api) open(text string) (t ticket, ok bool) {
	claims, sum, _ := strings.Cut(text, ".")
	mac, err := base64.RawURLEncoding.DecodeString(sum)
	if err != nil || !hmac.Equal(mac, a.mac("download", claims)) {
		return t, false
	}
	b, err := base64.RawURLEncoding.DecodeString(claims)
	ok = err == nil && json.Unmarshal(b, &t) == nil && a.Clock.Now().Unix() < t.Expires
	return t, ok
}

// files answers GET below a checkpoint: where its archive or its files can be fetched.
func (a *api) files(w http.ResponseWriter, r *http.Request) error {
	path, action, err := target(r, "archive", "external_weights_urls")
	if err == nil && action == "" {
		err = errs.New(errs.NotFound, "there is nothing to read of a checkpoint by that name", "GET .../archive or .../external_weights_urls")
	}
	if err != nil {
		return err
	}
	c, err := a.Service.Checkpoint(r.Context(), a.owner(r), path)
	if err != nil {
		return err
	}
	expires := a.Clock.Now().Add(shelf)
	place := origin(r) + Root + "/download/" + a.sign(ticket{a.owner(r), c.Path, expires.Unix()}) + "/"
	if action == "archive" {
		w.Header().Set("Location", place+archiveName)
		w.Header().Set("Expires", expires.UTC().Format(http.TimeFormat))
		return send(w, r, http.StatusFound, encode(map[string]string{"url": place + archiveName, "expires": stamp(expires)}), jsonType)
	}
	return a.urls(w, r, c, place, expires)
}

// urls lists the files of an external checkpoint.
func (a *api) urls(w http.ResponseWriter, r *http.Request, c mint.Checkpoint, place string, expires time.Time) error {
	if c.Kind != mint.External {
		return errs.New(errs.InvalidRequest, "the checkpoint is not external", "make one with save_weights_external, or ask for .../archive")
	}
	urls := map[string]string{}
	err := a.inArchive(r.Context(), a.owner(r), c.Path, func(h *tar.Header, _ io.Reader) (bool, error) {
		urls[h.Name] = place + h.Name
		return true, nil
	})
	if err != nil {
		return err
	}
	return a.answer(w, r, map[string]any{"urls": urls, "expires": stamp(expires)})
}

// origin is how the caller has reached this server.
func origin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// download serves what a ticket is for.
func (a *api) download(w http.ResponseWriter, r *http.Request) error {
	t, ok := a.open(r.PathValue("ticket"))
	if !ok {
		return errs.New(errs.NotFound, "this address of a download is not valid, or not any more", "ask for a new one; they are good for 15 minutes and end with the process")
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Disposition", "attachment")
	if r.PathValue("file") != archiveName {
		return a.oneFile(w, r, t)
	}
	archive, err := a.Service.Archive(r.Context(), t.Owner, t.Path)
	if err != nil {
		return err
	}
	defer archive.Close()
	w.Header().Set("Content-Type", "application/gzip")
	return a.stream(w, archive)
}

// stream copies to a client, which may leave; an archive that breaks cuts the connection,
// so that half of one is not taken for a whole.
func (a *api) stream(w http.ResponseWriter, from io.Reader) error {
	if _, err := io.Copy(w, from); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (a *api) oneFile(w http.ResponseWriter, r *http.Request, t ticket) error {
	name, found := r.PathValue("file"), false
	err := a.inArchive(r.Context(), t.Owner, t.Path, func(h *tar.Header, from io.Reader) (bool, error) {
		if h.Name != name {
			return true, nil
		}
		found = true
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", fmt.Sprint(h.Size))
		return false, a.stream(w, from)
	})
	if err == nil && !found {
		err = errs.New(errs.NotFound, "the checkpoint has no file "+errs.Clip(name), "")
	}
	return err
}

// inArchive goes through the files of a checkpoint until each says that it is enough.
func (a *api) inArchive(ctx context.Context, owner, path string, each func(*tar.Header, io.Reader) (more bool, err error)) error {
	archive, err := a.Service.Archive(ctx, owner, path)
	if err != nil {
		return err
	}
	defer archive.Close()
	plain, err := gzip.NewReader(archive)
	if err != nil {
		return disk.Error(err, "the archive of the checkpoint cannot be read")
	}
	files := tar.NewReader(plain)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return disk.Error(err, "the archive of the checkpoint cannot be read")
		}
		if more, err := each(h, files); err != nil || !more {
			return err
		}
	}
}
