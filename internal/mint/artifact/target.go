package artifact

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/reach"
)

// Prefix begins the name of an artifact in a registry: oci://HOST/REPOSITORY:TAG.
const Prefix = "oci://"

// Target is where artifacts are written, Source where they are read.
type (
	Target = oras.Target
	Source = oras.ReadOnlyTarget
)

// Access is how a registry is spoken to.
type Access struct {
	PlainHTTP      bool
	User, Password string       // none: as anybody
	Lookup         reach.Lookup // of names; nil: the system's
}

// CheckTag refuses what is no tag of OCI: an image layout would take anything, and no other program
// could name it.
func CheckTag(tag string) error {
	r := registry.Reference{Reference: tag}
	if r.ValidateReferenceAsTag() != nil {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%q is no tag", errs.Clip(tag)), "use 1 to 128 of A-Z a-z 0-9 . _ - and begin with none of . and -").In("tag")
	}
	return nil
}

// Layout opens an image layout, for writing: the directory is made if it is not there.
func Layout(ctx context.Context, dir string) (Target, error) {
	s, err := oci.NewWithContext(ctx, dir)
	return s, failed(err, dir+" cannot be opened as an image layout")
}

// Existing opens an image layout, or a tar file of one, for reading.
func Existing(ctx context.Context, path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, disk.OpenError(err, "there is no "+path, "name the directory of an image layout, a tar file of one, or oci://HOST/REPOSITORY:TAG")
	}
	if !info.IsDir() {
		s, err := oci.NewFromTar(ctx, path)
		return s, failed(err, path+" is no tar file of an image layout")
	}
	s, err := oci.NewFromFS(ctx, os.DirFS(path))
	return s, failed(err, path+" is no image layout")
}

// IsLayout tells whether a directory is an image layout.
func IsLayout(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "oci-layout"))
	return err == nil && info.Mode().IsRegular()
}

// Repository opens what oci://HOST/REPOSITORY:TAG names, and gives its tag.
func Repository(name string, a Access) (Target, string, error) {
	r, err := remote.NewRepository(strings.TrimPrefix(name, Prefix))
	if err != nil {
		return nil, "", errs.Wrap(errs.InvalidRequest, err, errs.Clip(name)+" names no repository", "write "+Prefix+"HOST/REPOSITORY:TAG")
	}
	if r.Reference.Reference == "" {
		return nil, "", errs.New(errs.InvalidRequest, errs.Clip(name)+" has no tag", "write "+Prefix+"HOST/REPOSITORY:TAG")
	}
	r.PlainHTTP = a.PlainHTTP
	c := &auth.Client{Client: newGuard(r.Reference.Registry, a.PlainHTTP, a.Lookup).client(), Cache: auth.NewCache()}
	c.SetUserAgent("macaron")
	if a.User != "" {
		c.Credential = auth.StaticCredential(r.Reference.Registry, auth.Credential{Username: a.User, Password: a.Password})
	}
	r.Client = c
	return r, r.Reference.Reference, nil
}

func digestOf(d ids.Digest) digest.Digest { return digest.Digest(d) }

// failed gives an error of a layout or a registry its code; a nil one is nil, and one that has
// a code passes.
func failed(err error, message string) error {
	var known *errs.Error
	var answered *errcode.ErrorResponse
	var unsent *url.Error
	switch sent := !errors.As(err, &unsent); {
	case errors.As(err, &known) && !sent && known.Code == errs.Forbidden: // the guard's own words
		return known
	case err == nil || sent && known != nil:
		return err
	case errors.Is(err, errdef.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return errs.Wrap(errs.NotFound, err, message, "check the name and the tag")
	case errors.As(err, &answered) && (answered.StatusCode == http.StatusUnauthorized || answered.StatusCode == http.StatusForbidden):
		return errs.Wrap(errs.Forbidden, err, message+": the registry refuses", "give --user and a password that may do this")
	case errors.As(err, &answered):
		return errs.Wrap(errs.UpstreamFailed, err, message+": the registry answers with an error", "look at the registry's log")
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(errs.Canceled, err, message, "")
	case !sent:
		return errs.Wrap(errs.UpstreamUnavailable, err, message+": the registry does not answer ("+errs.Clip(unsent.Err.Error())+")", "see that it is up and named rightly; for one without TLS give --plain-http")
	}
	return errs.Wrap(errs.FormatInvalid, err, message, "check the name; for a registry without TLS give --plain-http")
}
