export { Grid as default } from '../../shop/frame';
export const settings = { rendering: 'static' };
