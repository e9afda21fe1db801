import '../../shop/css/banners.css';

export { Hero as default } from '../../shop/plain';
export const settings = { rendering: 'static' };
