// Images that are dropped on the page: read here, as the command reads a folder that has a folder for each class.

/** The files of what was dropped, those of folders too, each with its path. */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
  const found = [];
  const visit = async (entry, path) => {
    if (entry.isFile) {
      found.push({ file: await new Promise((done, fail) => entry.file(done, fail)), path: path + entry.name });
      return;
    }
    const reader = entry.createReader();
    // A folder gives its files some at a time.
    for (let some; (some = await new Promise((done, fail) => reader.readEntries(done, fail))).length > 0;) {
      for (const inner of some) await visit(inner, `${path}${entry.name}/`);
    }
  };
  const files = [...transfer.files].map(file => ({ file, path: file.name }));
  for (const entry of entries) await visit(entry, "");
  return found.length > 0 ? found : files;
}

/** The pixels of an image, red, green, blue and opacity. */
async function pixels(file) {
  const image = await createImageBitmap(file, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  return { width, height, data: context.getImageData(0, 0, width, height).data };
}

/** Images whose folders are their classes: grey in one plane, or all in three where one has colour. */
export async function readImages(files) {
  const folder = path => path.split("/").at(-2) ?? "";
  const order = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const classes = [...new Set(order.map(({ path }) => folder(path)))].sort();
  if (classes.length < 2) throw new Error("The images are all in one folder: a folder for each class is wanted.");
  const read = [];
  for (const { file, path } of order) {
    const image = await pixels(file).catch(() => { throw new Error(`${path} is not an image that can be read.`); });
    const first = read[0] ?? image;
    if (image.width !== first.width || image.height !== first.height) {
      throw new Error(`${path} has ${image.width} x ${image.height} pixels, the first image ${first.width} x ${first.height}: images must be of one size.`);
    }
    read.push(image);
  }
  const { width, height } = read[0];
  const size = width * height;
  const hasColour = read.some(({ data }) => {
    for (let at = 0; at < data.length; at += 4) if (data[at] !== data[at + 1] || data[at] !== data[at + 2]) return true;
    return false;
  });
  const channels = hasColour ? 3 : 1;
  const bytes = new Uint8Array(read.length * size * channels);
  read.forEach(({ data }, row) => {
    for (let channel = 0; channel < channels; channel++) {
      for (let at = 0; at < size; at++) bytes[(row * channels + channel) * size + at] = data[4 * at + channel];
    }
  });
  return { bytes, images: { width, height, channels, classes, labels: order.map(({ path }) => classes.indexOf(folder(path))) } };
}
