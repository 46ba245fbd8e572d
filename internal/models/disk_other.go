//go:build !unix

package models

import (
	"errors"
	"os"

	"macaron/internal/errs"
)

func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }

func tryLock(*os.File) (bool, error) { return true, nil }

func storage(err error, message string) error {
	return errs.Wrap(errs.StorageFailed, err, message, "check that this user may write there and that the disk has space")
}
