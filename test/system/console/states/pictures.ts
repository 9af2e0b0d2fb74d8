import { crc32, deflateSync, inflateSync } from "node:zlib";

/** Pictures as pixels: kept small, and compared with a tolerance. */

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel. */
  readonly colours: Buffer;
}

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** PNG, 2003: the colour type of pixels that each name their colours, and of those that name a row of a palette. */
const COLOURS = 2;
const PALETTE = 3;

/** Pixels of a PNG as browsers and `encode` write it: eight bits a sample, rows in order. */
export function decode(png: Buffer): Picture {
  const chunks = new Map<string, Buffer[]>();
  for (let at = SIGNATURE.length; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    const name = png.toString("latin1", at + 4, at + 8);
    chunks.set(name, [...(chunks.get(name) ?? []), png.subarray(at + 8, end)]);
    at = end + 4;
  }
  const [header = Buffer.alloc(13)] = chunks.get("IHDR") ?? [];
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const type = header[9];
  if (header[8] !== 8 || header[12] !== 0 || (type !== COLOURS && type !== PALETTE)) throw new TypeError("another PNG");
  const samples = type === COLOURS ? 3 : 1;
  const pixels = unfiltered(inflateSync(Buffer.concat(chunks.get("IDAT") ?? [])), width * samples, height, samples);
  if (type === COLOURS) return { width, height, colours: pixels };
  const [palette = Buffer.alloc(0)] = chunks.get("PLTE") ?? [];
  const colours = Buffer.alloc(pixels.length * 3);
  for (let at = 0; at < pixels.length; at++)
    palette.copy(colours, at * 3, (pixels[at] ?? 0) * 3, (pixels[at] ?? 0) * 3 + 3);
  return { width, height, colours };
}

/** PNG, 9: each row begins with the number of its filter. */
function unfiltered(filtered: Buffer, length: number, height: number, samples: number): Buffer {
  const rows = Buffer.alloc(length * height);
  for (let at = 0; at < rows.length; at++) {
    const row = Math.floor(at / length);
    const isFirst = at - row * length < samples;
    const left = isFirst ? 0 : (rows[at - samples] as number);
    const above = row === 0 ? 0 : (rows[at - length] as number);
    const corner = isFirst || row === 0 ? 0 : (rows[at - length - samples] as number);
    rows[at] = (filtered[at + row + 1] as number) + guess(filtered[row * (length + 1)], left, above, corner);
  }
  return rows;
}

function guess(filter: number | undefined, left: number, above: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4: {
      const fromLeft = Math.abs(above - corner);
      const fromAbove = Math.abs(left - corner);
      const fromCorner = Math.abs(left + above - corner - corner);
      if (fromLeft <= fromAbove && fromLeft <= fromCorner) return left;
      return fromAbove <= fromCorner ? above : corner;
    }
    default:
      return 0;
  }
}

/** In at most 256 colours, which take a third of the bytes. */
export function encode({ width, height, colours }: Picture): Buffer {
  const counts = new Map<number, number>();
  for (let at = 0; at < colours.length; at += 3) {
    const colour = colours.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const named = paletteOf(counts);
  const nearest = new Map([...counts.keys()].map((colour) => [colour, nearestIn(named, colour).at]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < width * height; at++)
    rows[at + Math.floor(at / width) + 1] = nearest.get(colours.readUIntBE(at * 3, 3)) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, PALETTE], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", named),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Those of most pixels are kept; of the others, such as at the edges of letters, one of those that are alike. */
const KEPT = 128;
const PALETTE_MAX = 256;

function paletteOf(counts: ReadonlyMap<number, number>): Buffer {
  const byCount = [...counts].toSorted(([a, most], [b, more]) => more - most || a - b).map(([colour]) => colour);
  for (let reach = 0; ; reach++) {
    let palette = Buffer.alloc(0);
    for (const [place, colour] of byCount.entries()) {
      if (place >= KEPT && nearestIn(palette, colour).distance <= 3 * reach ** 2) continue;
      palette = Buffer.concat([palette, Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255])]);
      if (palette.length > PALETTE_MAX * 3) break;
    }
    if (palette.length <= PALETTE_MAX * 3) return palette;
  }
}

function nearestIn(palette: Buffer, colour: number): { readonly at: number; readonly distance: number } {
  const red = colour >> 16;
  const green = (colour >> 8) & 255;
  const blue = colour & 255;
  let found = { at: 0, distance: Number.POSITIVE_INFINITY };
  for (let at = 0; at < palette.length; at += 3) {
    const distance =
      ((palette[at] ?? 0) - red) ** 2 + ((palette[at + 1] ?? 0) - green) ** 2 + ((palette[at + 2] ?? 0) - blue) ** 2;
    if (distance < found.distance) found = { at: at / 3, distance };
  }
  return found;
}

function chunk(name: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  const sum = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** Squares of eight pixels a side: their mean colours stand small differences of how text is drawn. */
const SQUARE = 8;
/** Difference from 0 to 255, in one of the three colours. */
const COLOUR_MAX = 8;

/** How many squares of two pictures differ, or -1 where their sizes do. */
export function differingSquares(kept: Picture, now: Picture): number {
  if (kept.width !== now.width || kept.height !== now.height) return -1;
  if (kept.colours.equals(now.colours)) return 0;
  const across = Math.ceil(kept.width / SQUARE);
  const sums = new Int32Array(across * Math.ceil(kept.height / SQUARE) * 3);
  for (let at = 0; at < kept.colours.length; at++) {
    const pixel = Math.floor(at / 3);
    const row = Math.floor(pixel / kept.width / SQUARE);
    const own = (row * across + Math.floor((pixel % kept.width) / SQUARE)) * 3 + (at % 3);
    sums[own] = (sums[own] as number) + (kept.colours[at] as number) - (now.colours[at] as number);
  }
  let found = 0;
  for (let at = 0; at < sums.length; at += 3)
    if (sums.subarray(at, at + 3).some((sum) => Math.abs(sum) > COLOUR_MAX * SQUARE ** 2)) found++;
  return found;
}
