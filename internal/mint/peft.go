package mint

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"macaron/internal/errs"
)

// The files of an exported adapter, as PEFT names them.
const (
	configFile  = "adapter_config.json"
	tensorsFile = "adapter_model.safetensors"
	maxConfig   = 1 << 20
	maxEntries  = 64
)

// writePEFT writes an adapter as a tar whose bytes depend on the adapter alone.
func writePEFT(w io.Writer, a Adapter) error {
	t := tar.NewWriter(w)
	for _, f := range []struct {
		name  string
		bytes []byte
	}{{configFile, a.Config}, {tensorsFile, a.Tensors}} {
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.bytes)), Format: tar.FormatPAX}); err != nil {
			return err
		}
		if _, err := t.Write(f.bytes); err != nil {
			return err
		}
	}
	return t.Close()
}

// ReadPEFT reads the tar of an adapter that somebody else has made, of at most so many bytes.
func ReadPEFT(r io.Reader, most int64) (Adapter, error) { return readPEFT(r, most) }

// readPEFT reads the tar of an adapter, which anybody may have made: two regular files of
// the right names, in one directory; other files are passed over, anything else is refused.
func readPEFT(r io.Reader, most int64) (a Adapter, err error) {
	in := &io.LimitedReader{R: r, N: most}
	t := tar.NewReader(in)
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			if a.Config == nil || a.Tensors == nil {
				return a, badArchive(fmt.Sprintf("it needs %s and %s", configFile, tensorsFile))
			}
			return a, rest(in, most) // to its end, where a sum may be checked
		case in.N <= 0:
			return a, tooLong(most)
		case err != nil:
			return a, coded(err)
		case n >= maxEntries:
			return a, badArchive(fmt.Sprintf("it has more than %d entries", maxEntries))
		}
		if err := a.take(t, h, most); err != nil {
			return a, err
		}
	}
}

func rest(in *io.LimitedReader, most int64) error {
	if _, err := io.Copy(io.Discard, in); err != nil {
		return coded(err)
	}
	if in.N <= 0 {
		return tooLong(most)
	}
	return nil
}

func tooLong(most int64) error {
	return errs.New(errs.TooLarge, fmt.Sprintf("the archive has more than %d bytes", most), "upload the adapter alone")
}

// take reads one entry.
func (a *Adapter) take(r io.Reader, h *tar.Header, most int64) error {
	if !local(h.Name) {
		return badArchive(fmt.Sprintf("the name %q leads out of it", errs.Clip(h.Name)))
	}
	switch h.Typeflag {
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil
	case tar.TypeReg:
	default:
		return badArchive(fmt.Sprintf("%q is a link or a device", errs.Clip(h.Name)))
	}
	to, limit := &a.Tensors, most
	switch path.Base(h.Name) {
	case configFile:
		to, limit = &a.Config, maxConfig
	case tensorsFile:
	default:
		return nil
	}
	if *to != nil {
		return badArchive("it has " + path.Base(h.Name) + " twice")
	}
	if h.Size > limit {
		return errs.New(errs.TooLarge, fmt.Sprintf("%s has %d bytes, more than %d", path.Base(h.Name), h.Size, limit), "upload the adapter alone")
	}
	b, err := io.ReadAll(r)
	*to = b
	return coded(err)
}

// local tells whether a name stays within the archive.
func local(name string) bool {
	clean := path.Clean(name)
	return !path.IsAbs(name) && clean != ".." && !strings.HasPrefix(clean, "../") && !strings.ContainsAny(name, "\\\x00")
}

// unzipPEFT is readPEFT of what is compressed by gzip; what it unpacks to is read through pass.
func unzipPEFT(r io.Reader, most int64, pass func(io.Reader) io.Reader) (Adapter, error) {
	in := &counted{Reader: r}
	z, err := gzip.NewReader(in)
	if err != nil {
		return Adapter{}, badArchive("it is not compressed by gzip")
	}
	return readPEFT(pass(&swelling{from: z, packed: in}), most)
}

func badArchive(why string) error {
	return errs.New(errs.FormatInvalid, "the archive is none of a PEFT adapter: "+why, "upload a tar.gz of the directory that PEFT saved")
}

func coded(err error) error {
	var known *errs.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return errs.Wrap(errs.FormatInvalid, err, "the archive cannot be read", "upload a tar.gz of the directory that PEFT saved")
}

// zipped compresses a stream as it is read. Weights do not compress: the least effort.
func zipped(r io.ReadCloser) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		z, err := gzip.NewWriterLevel(in, gzip.BestSpeed)
		if err == nil {
			_, err = io.Copy(z, r)
			err = errors.Join(err, z.Close(), r.Close())
		}
		in.CloseWithError(err)
	}()
	return out
}
