/**
 * XXH3-128 of pages without the addon, for inputs of more than 240 bytes, seed 0, default secret. Source: the XXH3
 * specification of xxHash 0.8. The inner loop works on halves of 32 bits, because JavaScript has no 64-bit integers
 * that are fast; the end of each page, which is little work, uses big integers.
 */
const PRIME32_1 = 0x9e3779b1;
const PRIME64_1 = 0x9e3779b185ebca87n;
const PRIME64_2 = 0xc2b2ae3d27d4eb4fn;
const AVALANCHE_PRIME = 0x165667919e3779f9n;

const SECRET = Buffer.from(
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c" +
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364" +
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e",
  "hex",
);

const LANES = 8;
const STRIPE_BYTES = 64;
const STRIPE_WORDS = 16;
const BLOCK_BYTES = 1024;
/** Words that the secret moves by from stripe to stripe. */
const SECRET_STEP_WORDS = 2;

const SECRET_WORDS = readWords(0, SECRET.length / 4);
const SCRAMBLE_WORDS = readWords(SECRET.length - STRIPE_BYTES, STRIPE_WORDS);
const LAST_STRIPE_WORDS = readWords(SECRET.length - STRIPE_BYTES - 7, STRIPE_WORDS);
const LOW_HALF_KEYS = readLongs(11);
const HIGH_HALF_KEYS = readLongs(SECRET.length - STRIPE_BYTES - 11);

/** The primes that the lanes start with, low half first. */
const START = Int32Array.of(
  0xc2b2ae3d,
  0,
  0x85ebca87,
  0x9e3779b1,
  0x27d4eb4f,
  0xc2b2ae3d,
  0x9e3779f9,
  0x165667b1,
  0xc2b2ae63,
  0x85ebca77,
  0x85ebca77,
  0,
  0x165667c5,
  0x27d4eb2f,
  0x9e3779b1,
  0,
);

/** Two words a lane, low half first; as 64-bit numbers for the end. Used within one call only. */
const lanes = new Int32Array(2 * LANES);
const longs = new BigUint64Array(lanes.buffer);

/** Writes the hash, big-endian, high half first, to `hashes` at `offset`. */
export function hashLong(input: Uint8Array, hashes: DataView, offset: number): void {
  // The words are read at multiples of four bytes of the buffer below, so input that stands elsewhere is moved.
  const aligned = input.byteOffset % 4 === 0 ? input : Uint8Array.from(input);
  const words = new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
  const length = aligned.length;
  lanes.set(START);
  const blocks = Math.floor((length - 1) / BLOCK_BYTES);
  for (let block = 0; block < blocks; block += 1) {
    accumulate(words, (block * BLOCK_BYTES) / 4, SECRET_WORDS, BLOCK_BYTES / STRIPE_BYTES);
    scramble();
  }
  accumulate(words, (blocks * BLOCK_BYTES) / 4, SECRET_WORDS, Math.floor(((length - 1) % BLOCK_BYTES) / STRIPE_BYTES));
  const last = new Int32Array(Uint8Array.from(aligned.subarray(length - STRIPE_BYTES)).buffer);
  accumulate(last, 0, LAST_STRIPE_WORDS, 1);
  hashes.setBigUint64(offset, merge(HIGH_HALF_KEYS, BigInt.asUintN(64, ~(BigInt(length) * PRIME64_2))));
  hashes.setBigUint64(offset + 8, merge(LOW_HALF_KEYS, BigInt.asUintN(64, BigInt(length) * PRIME64_1)));
}

/**
 * lane[i] += data[i ^ 1] + low32(data[i] ^ secret[i]) * high32(data[i] ^ secret[i]), for each stripe. Lanes meet in pairs
 * only, so each pair goes through all stripes by itself, in local variables.
 */
function accumulate(words: Int32Array, first: number, secret: Int32Array, stripes: number): void {
  for (let pair = 0; pair < STRIPE_WORDS; pair += 4) {
    let aLow = lanes[pair]!;
    let aHigh = lanes[pair + 1]!;
    let bLow = lanes[pair + 2]!;
    let bHigh = lanes[pair + 3]!;
    for (let stripe = 0, word = first + pair, key = pair; stripe < stripes; stripe += 1, word += STRIPE_WORDS, key += SECRET_STEP_WORDS) {
      const aDataLow = words[word]!;
      const aDataHigh = words[word + 1]!;
      const bDataLow = words[word + 2]!;
      const bDataHigh = words[word + 3]!;
      const aKeyedLow = aDataLow ^ secret[key]!;
      const aKeyedHigh = aDataHigh ^ secret[key + 1]!;
      const bKeyedLow = bDataLow ^ secret[key + 2]!;
      const bKeyedHigh = bDataHigh ^ secret[key + 3]!;
      const aWithData = (aLow + bDataLow) | 0;
      const bWithData = (bLow + aDataLow) | 0;
      const aProduct = Math.imul(aKeyedLow, aKeyedHigh);
      const bProduct = Math.imul(bKeyedLow, bKeyedHigh);
      aLow = (aWithData + aProduct) | 0;
      bLow = (bWithData + bProduct) | 0;
      aHigh = (aHigh + bDataHigh + multiplyHigh(aKeyedLow, aKeyedHigh) + carry(aWithData, bDataLow) + carry(aLow, aProduct)) | 0;
      bHigh = (bHigh + aDataHigh + multiplyHigh(bKeyedLow, bKeyedHigh) + carry(bWithData, aDataLow) + carry(bLow, bProduct)) | 0;
    }
    lanes[pair] = aLow;
    lanes[pair + 1] = aHigh;
    lanes[pair + 2] = bLow;
    lanes[pair + 3] = bHigh;
  }
}

/** 1 when a sum of 32 bits went over: it is then less than what was added. */
function carry(sum: number, added: number): number {
  return sum >>> 0 < added >>> 0 ? 1 : 0;
}

/** The upper half of the 64-bit product of two unsigned 32-bit numbers. No sum here exceeds 32 bits. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const cross = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) | 0;
  const middle = (Math.imul(aLow, bHigh) + (cross & 0xffff)) | 0;
  return (Math.imul(aHigh, bHigh) + (cross >>> 16) + (middle >>> 16)) | 0;
}

/** lane = (lane ^ lane >> 47 ^ secret) * prime */
function scramble(): void {
  for (let word = 0; word < STRIPE_WORDS; word += 2) {
    const high = lanes[word + 1]!;
    const low = lanes[word]! ^ (high >>> 15) ^ SCRAMBLE_WORDS[word]!;
    lanes[word] = Math.imul(low, PRIME32_1);
    lanes[word + 1] = Math.imul(high ^ SCRAMBLE_WORDS[word + 1]!, PRIME32_1) + multiplyHigh(low, PRIME32_1);
  }
}

function merge(keys: BigUint64Array, start: bigint): bigint {
  let result = start;
  for (let lane = 0; lane < LANES; lane += 2) {
    const product = (longs[lane]! ^ keys[lane]!) * (longs[lane + 1]! ^ keys[lane + 1]!);
    result += BigInt.asUintN(64, product) ^ (product >> 64n);
  }
  result = BigInt.asUintN(64, result);
  result = BigInt.asUintN(64, (result ^ (result >> 37n)) * AVALANCHE_PRIME);
  return result ^ (result >> 32n);
}

function readWords(at: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, word) => SECRET.readInt32LE(at + 4 * word));
}

function readLongs(at: number): BigUint64Array {
  return BigUint64Array.from({ length: LANES }, (_, lane) => SECRET.readBigUInt64LE(at + 8 * lane));
}
