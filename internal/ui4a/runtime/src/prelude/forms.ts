// A sandboxed document submits no form, and its browser tells nobody of the try, so no
// onSubmit would ever be called. Here a press of a form's button asks the form whether it
// is valid, and tells it; nothing leaves.
import { native } from "./natives";

native.listen(window, "click", (e) => {
  const at = native.target(e);
  const button = at instanceof Element ? at.closest<HTMLButtonElement | HTMLInputElement>("button, input") : null;
  const form = button?.form;
  if (e.defaultPrevented || !form || button.type !== "submit") return;
  e.preventDefault();
  if (form.noValidate || form.reportValidity()) form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true, submitter: button }));
});
