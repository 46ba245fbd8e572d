package tinkerclient

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"mime/multipart"
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/mint/catalogue"
)

// Adapter fetches the PEFT files of a checkpoint.
func (c *Client) Adapter(ctx context.Context, path string) (catalogue.Files, error) {
	at, err := place(path)
	if err != nil {
		return catalogue.Files{}, err
	}
	a, err := c.insist(ctx, func() (*answer, error) {
		a, err := c.ask(ctx, http.MethodGet, at+"/archive", "", nil)
		if err == nil && a.status/100 == 3 {
			return c.follow(ctx, a.header.Get("Location"))
		}
		return a, err
	})
	if err != nil {
		return catalogue.Files{}, err
	}
	got, err := mint.ReadArchive(bytes.NewReader(a.body), archiveBytes)
	return catalogue.Files{Config: got.Config, Tensors: got.Tensors}, err
}

// follow gets an archive from where the server says that it is: from its own host alone, and
// without the key.
func (c *Client) follow(ctx context.Context, location string) (*answer, error) {
	to, err := c.origin.Parse(location)
	if err != nil || to.Scheme != c.origin.Scheme || to.Host != c.origin.Host {
		return nil, errs.New(errs.UpstreamFailed, "the training service has its archives at another host, which is not asked", "fetch the archive of the checkpoint by hand, and publish it")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the request cannot be made", "")
	}
	return c.do(ctx, r, archiveBytes)
}

// place is where the protocol has a checkpoint.
func place(path string) (string, error) {
	at, ok := mint.CheckpointPath(path)
	if !ok {
		return "", errs.New(errs.InvalidRequest, errs.Clip(path)+" is no path of a checkpoint", "it is tinker://RUN/sampler_weights/NAME")
	}
	return at, nil
}

// Upload makes a checkpoint of the PEFT files of an adapter and gives its path. Servers that
// have no such call answer errs.NotFound.
func (c *Client) Upload(ctx context.Context, f catalogue.Files) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := archive(form, f)
	if err != nil {
		return "", errs.Wrap(errs.Internal, err, "the archive cannot be made", "")
	}
	a, err := c.insist(ctx, func() (*answer, error) {
		return c.ask(ctx, http.MethodPost, "checkpoints/upload", form.FormDataContentType(), bytes.NewReader(body.Bytes()))
	})
	if err != nil {
		return "", err
	}
	var out struct {
		Path string `json:"path"`
	}
	return out.Path, a.read("checkpoints/upload", &out)
}

// archive writes the files as the form's part file, a tar.gz.
func archive(form *multipart.Writer, f catalogue.Files) error {
	part, err := form.CreateFormFile("file", "adapter.tar.gz")
	if err != nil {
		return err
	}
	z := gzip.NewWriter(part)
	t := tar.NewWriter(z)
	for _, x := range []struct {
		name  string
		bytes []byte
	}{{catalogue.ConfigFile, f.Config}, {catalogue.TensorsFile, f.Tensors}} {
		if err := t.WriteHeader(&tar.Header{Name: x.name, Mode: 0o644, Size: int64(len(x.bytes)), Format: tar.FormatPAX}); err != nil {
			return err
		}
		if _, err := t.Write(x.bytes); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return form.Close()
}
