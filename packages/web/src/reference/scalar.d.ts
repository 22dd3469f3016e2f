/** The build makes this module (`vite.config.ts`). */
declare module 'virtual:scalar' {
  /** The address of Scalar's own script, which defines the global `Scalar`. */
  const address: string;
  export default address;
}

declare const Scalar: {
  createApiReference(element: Element, configuration: object): void;
};
