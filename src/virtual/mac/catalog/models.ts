export type ProductFamily = "iPhone" | "iPad" | "Apple Watch" | "Apple TV" | "Apple Vision";

export interface DeviceType {
  readonly identifier: string;
  readonly name: string;
  readonly family: ProductFamily;
  readonly modelIdentifier: string;
  /** Pixels of the screen as a screenshot shows it. */
  readonly width: number;
  readonly height: number;
  readonly minRuntime: string;
  /** Undefined where no runtime is too new. */
  readonly maxRuntime: string | undefined;
}

type Row = readonly [
  name: string,
  model: string,
  width: number,
  height: number,
  minRuntime: string,
  maxRuntime?: string | undefined,
  identifier?: string,
];

// Names, identifiers and sizes as Xcode 26 shows them, to the best of our knowledge; not read off a Mac.
const TABLE: Readonly<Record<ProductFamily, readonly Row[]>> = {
  iPhone: [
    ["iPhone 17 Pro", "iPhone18,1", 1206, 2622, "26.0.0"],
    ["iPhone 17 Pro Max", "iPhone18,2", 1320, 2868, "26.0.0"],
    ["iPhone Air", "iPhone18,4", 1260, 2736, "26.0.0"],
    ["iPhone 17", "iPhone18,3", 1206, 2622, "26.0.0"],
    ["iPhone 16 Pro", "iPhone17,1", 1206, 2622, "18.0.0"],
    ["iPhone 16 Pro Max", "iPhone17,2", 1320, 2868, "18.0.0"],
    ["iPhone 16e", "iPhone17,5", 1170, 2532, "18.3.0"],
    ["iPhone 16", "iPhone17,3", 1179, 2556, "18.0.0"],
    ["iPhone 16 Plus", "iPhone17,4", 1290, 2796, "18.0.0"],
    ["iPhone 15 Pro", "iPhone16,1", 1179, 2556, "17.0.0"],
    ["iPhone 15 Pro Max", "iPhone16,2", 1290, 2796, "17.0.0"],
    ["iPhone 15", "iPhone15,4", 1179, 2556, "17.0.0"],
    ["iPhone 15 Plus", "iPhone15,5", 1290, 2796, "17.0.0"],
    ["iPhone SE (3rd generation)", "iPhone14,6", 750, 1334, "15.4.0"],
    ["iPhone XR", "iPhone11,8", 828, 1792, "12.0.0", "18.255.255"],
    ["iPhone 8", "iPhone10,4", 750, 1334, "11.0.0", "16.255.255"],
  ],
  iPad: [
    ["iPad Pro 11-inch (M5)", "iPad17,1", 1668, 2420, "26.0.0", undefined, "iPad-Pro-11-inch-M5-12GB"],
    ["iPad Pro 13-inch (M5)", "iPad17,3", 2064, 2752, "26.0.0", undefined, "iPad-Pro-13-inch-M5-12GB"],
    ["iPad Pro 11-inch (M4)", "iPad16,3", 1668, 2420, "17.4.0", undefined, "iPad-Pro-11-inch-M4-8GB"],
    ["iPad Pro 13-inch (M4)", "iPad16,5", 2064, 2752, "17.4.0", undefined, "iPad-Pro-13-inch-M4-8GB"],
    ["iPad mini (A17 Pro)", "iPad16,1", 1488, 2266, "18.0.0"],
    ["iPad (A16)", "iPad15,7", 1640, 2360, "18.3.0"],
    ["iPad Air 11-inch (M3)", "iPad15,3", 1640, 2360, "18.3.0"],
    ["iPad Air 13-inch (M3)", "iPad15,5", 2048, 2732, "18.3.0"],
    [
      "iPad Pro (12.9-inch) (6th generation)",
      "iPad14,5",
      2048,
      2732,
      "16.0.0",
      undefined,
      "iPad-Pro-12-9-inch-6th-generation-8GB",
    ],
  ],
  "Apple Watch": [
    ["Apple Watch Series 11 (42mm)", "Watch7,17", 374, 446, "26.0.0"],
    ["Apple Watch Series 11 (46mm)", "Watch7,18", 416, 496, "26.0.0"],
    ["Apple Watch Ultra 3 (49mm)", "Watch7,12", 422, 514, "26.0.0"],
    ["Apple Watch SE 3 (44mm)", "Watch7,14", 368, 448, "26.0.0"],
    ["Apple Watch Series 10 (46mm)", "Watch7,9", 416, 496, "11.0.0"],
  ],
  "Apple TV": [
    ["Apple TV 4K (3rd generation)", "AppleTV14,1", 3840, 2160, "16.1.0", undefined, "Apple-TV-4K-3rd-generation-4K"],
    [
      "Apple TV 4K (3rd generation) (at 1080p)",
      "AppleTV14,1",
      1920,
      1080,
      "16.1.0",
      undefined,
      "Apple-TV-4K-3rd-generation-1080p",
    ],
  ],
  "Apple Vision": [["Apple Vision Pro", "RealityDevice14,1", 2732, 2048, "1.0.0", undefined, "Apple-Vision-Pro"]],
};

/** "iPhone SE (3rd generation)" becomes "iPhone-SE-3rd-generation", as in Apple's identifiers. */
function slug(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, "-").replace(/-+$/, "");
}

function typeOf(family: ProductFamily, row: Row): DeviceType {
  const [name, modelIdentifier, width, height, minRuntime, maxRuntime, identifier] = row;
  return {
    identifier: `com.apple.CoreSimulator.SimDeviceType.${identifier ?? slug(name)}`,
    name,
    family,
    modelIdentifier,
    width,
    height,
    minRuntime,
    maxRuntime,
  };
}

export const DEVICE_TYPES: readonly DeviceType[] = Object.entries(TABLE).flatMap(([family, rows]) =>
  isFamily(family) ? rows.map((row) => typeOf(family, row)) : [],
);

function isFamily(text: string): text is ProductFamily {
  return text in TABLE;
}

const byIdentifier = new Map(DEVICE_TYPES.map((type) => [type.identifier, type]));
const byName = new Map(DEVICE_TYPES.map((type) => [type.name, type]));

/** A device type by its identifier or exact name, both of which `create` takes. */
export function findDeviceType(word: string): DeviceType | undefined {
  return byIdentifier.get(word) ?? byName.get(word);
}

/** A version as one number, 0xAABBCC, as the listings have it. */
export function packVersion(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return (major << 16) | (minor << 8) | patch;
}
