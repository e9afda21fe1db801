import '../../shop/css/banners.css';

export { Promo as default } from '../../shop/plain';
export const settings = { rendering: 'static' };
