/** Raised with every change of `contract.ts` or `views.ts`; a test pins their hash to this number. */
export const CONTRACT_VERSION = 1;
