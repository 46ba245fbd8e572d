// Pictures that a person attaches, made to fit what the server keeps.

const most = 1 << 20; // bytes; internal/ui4a/album
const sides = [1600, 1000, 600]; // pixels of what is made smaller; the first that fits
const kinds = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif" };

/** The file as it is, or a smaller JPEG of it; null if it is no picture. */
export async function fitting(file) {
  if (kinds[file.type] && file.size <= most) return file;
  const picture = await createImageBitmap(file).catch(() => null);
  for (const side of picture ? sides : []) {
    const blob = await smaller(picture, side);
    if (blob && blob.size <= most) return blob;
  }
  return null;
}

function smaller(picture, side) {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.85));
}

/** A name that the server takes, and that no picture before it has had. */
export function nameOf(file, type) {
  const words = file.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40) || "image";
  const mark = Math.random().toString(36).slice(2, 6).padEnd(4, "0");
  return `${words.toLowerCase()}-${mark}.${kinds[type] ?? "jpg"}`;
}
