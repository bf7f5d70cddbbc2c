//! Who is believed about where a request comes from, and which web sites may call the API. They can change while the service runs.

use std::sync::{Arc, PoisonError, RwLock};

use ipnet::IpNet;

/// What the service believes about the network around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkSettings {
    /// Proxies that say truly where a request comes from, by which scheme, and below which path.
    pub trusted_proxies: Vec<IpNet>,
    /// Origins of web sites whose scripts may call the API, like `https://app.example.org`.
    pub cors_origins: Vec<String>,
}

impl NetworkSettings {
    /// Checks that a text is an origin as browsers send it: a scheme, a host and perhaps a port.
    ///
    /// # Errors
    /// What an origin looks like.
    pub fn check_origin(text: &str) -> Result<String, String> {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_plain = |host: &str| {
            let known =
                |byte: u8| byte.is_ascii_alphanumeric() && !byte.is_ascii_uppercase() || b"-.:[]".contains(&byte);
            !host.is_empty() && host.bytes().all(known)
        };
        match host.filter(|host| is_plain(host)) {
            Some(_) => Ok(text.to_owned()),
            None => Err("expected an origin such as https://app.example.org, without a path".to_owned()),
        }
    }
}

/// The settings that hold at the moment, shared by everything that asks for them.
#[derive(Debug, Clone, Default)]
pub struct SharedNetworkSettings(Arc<RwLock<Arc<NetworkSettings>>>);

impl SharedNetworkSettings {
    /// What holds now.
    pub fn get(&self) -> Arc<NetworkSettings> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces them, for requests that come from now on.
    pub fn replace(&self, settings: NetworkSettings) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }
}

impl From<NetworkSettings> for SharedNetworkSettings {
    fn from(settings: NetworkSettings) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(settings))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path() {
        for right in ["https://app.example.org", "http://localhost:3000", "http://[::1]:80"] {
            assert_eq!(NetworkSettings::check_origin(right).as_deref(), Ok(right));
        }
        for wrong in
            ["", "*", "null", "app.example.org", "https://", "https://a.org/", "https://A.org", "https://a.org b"]
        {
            assert!(NetworkSettings::check_origin(wrong).is_err(), "{wrong:?}");
        }
    }
}
