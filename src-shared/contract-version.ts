/** Raised with every release that changes `contract.ts` or the views it names; a test pins their hash to this number. */
export const CONTRACT_VERSION = 1;
