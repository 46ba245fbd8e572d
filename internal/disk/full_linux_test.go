package disk

import (
	"os"
	"strings"
	"testing"

	"macaron/internal/errs"
)

func TestFullDiskIsToldAsOne(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.Write([]byte("x"))
	e := errs.As(Error(err, "the file cannot be stored"))
	if e == nil || e.Code != errs.StorageFull || !strings.Contains(e.Next, "MACARON_HOME") {
		t.Errorf("got %v", e)
	}
}
