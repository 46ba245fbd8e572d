package tinker

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"macaron/internal/errs"
)

// upload takes a PEFT directory as a new checkpoint: a tar.gz in the part "file" of a form.
func (a *api) upload(w http.ResponseWriter, r *http.Request) error {
	form, err := r.MultipartReader()
	if err != nil {
		return errs.Wrap(errs.InvalidRequest, err, "the request is no form of parts", "send multipart/form-data with a part named file")
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return errs.New(errs.InvalidRequest, "the form has no part named file", "send the tar.gz of the adapter as file").In("file")
		}
		if err != nil {
			return errs.Wrap(errs.InvalidRequest, err, "the form did not arrive whole", "send it again")
		}
		if part.FormName() == "file" {
			return a.take(w, r, part)
		}
	}
}

func (a *api) take(w http.ResponseWriter, r *http.Request, from io.Reader) error {
	c, err := a.Service.Upload(r.Context(), a.owner(r), &bounded{from, uploadBytes})
	if err != nil {
		return err
	}
	return a.answer(w, r, map[string]string{"path": c.Path, "tinker_path": c.Path, "checkpoint_id": string(c.Kind) + "/" + c.Name, "training_run_id": c.Run})
}

// bounded fails with a coded error when there is more to read than it may be.
type bounded struct {
	io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errs.New(errs.TooLarge, fmt.Sprintf("the upload is larger than %d bytes", int64(uploadBytes)), "send the adapter alone")
	}
	return n, err
}
